// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/plaintext.h"

#include <QApplication>
#include <QEvent>
#include <QLabel>

namespace kvw::gui {

namespace {

class PlainText : public QObject
{
public:
    using QObject::QObject;

    bool eventFilter(QObject* object, QEvent* event) override
    {
        // Sent once to each widget, before it is seen; a tooltip is a label of its own.
        if (event->type() == QEvent::Polish) {
            auto* label = qobject_cast<QLabel*>(object);
            if (label && label->textFormat() == Qt::AutoText)
                label->setTextFormat(Qt::PlainText);
        }
        return false;
    }
};

} // namespace

void showTextPlain()
{
    static const char* const name = "kvwPlainText";
    if (!qApp->findChild<QObject*>(QLatin1String(name), Qt::FindDirectChildrenOnly)) {
        auto* filter = new PlainText(qApp);
        filter->setObjectName(QLatin1String(name));
        qApp->installEventFilter(filter);
    }
}

} // namespace kvw::gui
