// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/focusframe.h"

#include "style/workbenchstyle.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QTabBar>

namespace kvw::gui {

namespace {

/// Lies over its parent, takes no mouse, and is nothing but a frame.
class Overlay : public QWidget
{
public:
    explicit Overlay(QWidget* parent)
        : QWidget(parent)
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setFocusPolicy(Qt::NoFocus);
        parent->installEventFilter(this);
        fit();
        show();
    }

protected:
    bool eventFilter(QObject* object, QEvent* event) override
    {
        if (event->type() == QEvent::Resize)
            fit();
        return QWidget::eventFilter(object, event);
    }

    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        drawFocusFrame(painter, rect(), palette());
    }

private:
    void fit()
    {
        const QRect area = parentWidget()->rect();
        setGeometry(area);
        setMask(QRegion(0, 0, area.width(), area.height()) - QRegion(2, 2, area.width() - 4, area.height() - 4));
        raise();
    }
};

bool showsItsOwn(const QWidget* widget)
{
    return qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QAbstractButton*>(widget)
        || qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget)
        || qobject_cast<const QLabel*>(widget) || qobject_cast<const QTabBar*>(widget)
        || qobject_cast<const QMenu*>(widget) || qobject_cast<const QMenuBar*>(widget) || widget->isWindow();
}

} // namespace

FocusFrame::FocusFrame(QWidget* window)
    : QObject(window)
    , m_window(window)
{
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { follow(now); });
}

QWidget* FocusFrame::framed() const
{
    return m_frame ? m_frame->parentWidget() : nullptr;
}

void FocusFrame::follow(QWidget* focus)
{
    if (!focus)
        return; // another window has it; ours keeps its place
    delete m_frame;
    if (focus->window() == m_window && m_window != focus && !showsItsOwn(focus))
        m_frame = new Overlay(focus);
}

} // namespace kvw::gui
