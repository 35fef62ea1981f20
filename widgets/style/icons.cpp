// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/icons.h"

#include <QApplication>
#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QSvgRenderer>

// Outside any namespace, as the macro demands. A static library's resources are not found without it.
static void initIcons()
{
    Q_INIT_RESOURCE(icons);
}

namespace kvw::gui {

namespace {

constexpr char drawnColor[] = "#6f767e"; // the one colour of the files

class TextColorIcon final : public QIconEngine
{
public:
    explicit TextColorIcon(QByteArray svg)
        : m_svg(std::move(svg))
    {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        const QPalette palette = QApplication::palette();
        QColor color = palette.color(QPalette::Active, QPalette::WindowText);
        if (mode == QIcon::Disabled)
            color = palette.color(QPalette::Disabled, QPalette::WindowText);
        else if (mode == QIcon::Selected)
            color = palette.color(QPalette::Active, QPalette::HighlightedText);
        QByteArray svg = m_svg;
        svg.replace(drawnColor, color.name().toLatin1());
        QSvgRenderer(svg).render(painter, QRectF(rect));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap out(size);
        out.fill(Qt::transparent);
        QPainter painter(&out);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return out;
    }

    QIconEngine* clone() const override { return new TextColorIcon(*this); }

private:
    QByteArray m_svg;
};

} // namespace

QIcon icon(const QString& name)
{
    initIcons();
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QIcon(new TextColorIcon(file.readAll()));
}

} // namespace kvw::gui
