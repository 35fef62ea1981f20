// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/focusframe.h"
#include "style/plaintext.h"
#include "style/tokens.h"
#include "style/workbenchstyle.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFrame>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QTest>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <cmath>

using namespace kvw::gui;

namespace {

/// WCAG contrast of two colours, by its definition.
double contrast(const QColor& a, const QColor& b)
{
    const auto luminance = [](const QColor& color) {
        const auto linear
            = [](double value) { return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); };
        return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
    };
    const double lighter = std::max(luminance(a), luminance(b));
    const double darker = std::min(luminance(a), luminance(b));
    return (lighter + 0.05) / (darker + 0.05);
}

bool near(const QColor& a, const QColor& b)
{
    return std::abs(a.red() - b.red()) <= 12 && std::abs(a.green() - b.green()) <= 12
        && std::abs(a.blue() - b.blue()) <= 12;
}

/// The colour of the left edge, half way down: of the first pixels the one that differs most from the ground.
QColor edgeOf(QWidget& widget, const QColor& ground)
{
    const QImage image = widget.grab().toImage();
    QColor best = ground;
    for (int x = 0; x < 3; ++x) {
        const QColor here = image.pixelColor(x, image.height() / 2);
        if (contrast(here, ground) > contrast(best, ground))
            best = here;
    }
    return best;
}

} // namespace

class TestWorkbenchStyle : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void darkLines();
    void checkedButton();
    void focusOfViews();
    void labelsArePlain();
};

void TestWorkbenchStyle::initTestCase()
{
    useWorkbenchStyle();
    showTextPlain();
}

/// In a dark window the edges of fields, frames and check boxes have the colour of lines.
void TestWorkbenchStyle::darkLines()
{
    QApplication::setPalette(darkPalette());
    QWidget window;
    auto* layout = new QVBoxLayout(&window);
    auto* line = new QLineEdit(&window);
    auto* combo = new QComboBox(&window);
    auto* frame = new QFrame(&window);
    frame->setFrameShape(QFrame::StyledPanel);
    frame->setMinimumSize(60, 30);
    for (QWidget* widget : std::initializer_list<QWidget*> {line, combo, frame})
        layout->addWidget(widget);
    auto* other = new QLineEdit(&window); // has the focus
    layout->addWidget(other);
    window.show();
    other->setFocus();
    const QColor ground = window.palette().color(QPalette::Window);
    for (QWidget* widget : std::initializer_list<QWidget*> {line, combo, frame}) {
        const QColor edge = edgeOf(*widget, ground);
        QVERIFY2(
            near(edge, tokensFor(window.palette()).line), qPrintable(edge.name() + widget->metaObject()->className()));
    }
    auto* box = new QCheckBox(&window);
    layout->addWidget(box);
    QTest::qWait(1);
    const QImage image = box->grab().toImage();
    bool seen = false;
    for (int x = 0; x < std::min(20, image.width()); ++x)
        seen = seen || contrast(image.pixelColor(x, image.height() / 2), ground) > 1.4;
    QVERIFY(seen);
}

void TestWorkbenchStyle::checkedButton()
{
    for (const QPalette& palette : {lightPalette(), darkPalette()}) {
        QApplication::setPalette(palette);
        QToolButton on;
        QToolButton off;
        for (QToolButton* button : {&on, &off}) {
            button->setText("State");
            button->setCheckable(true);
            button->resize(60, 26);
        }
        on.setChecked(true);
        const auto underline = [](QToolButton& button) { return button.grab().toImage().pixelColor(30, 24); };
        QCOMPARE(underline(on).name(), palette.color(QPalette::Highlight).name());
        QVERIFY(underline(off).name() != palette.color(QPalette::Highlight).name());
    }
}

void TestWorkbenchStyle::focusOfViews()
{
    QWidget window;
    const FocusFrame frame(&window);
    auto* layout = new QVBoxLayout(&window);
    auto* view = new QTreeView(&window);
    auto* line = new QLineEdit(&window);
    layout->addWidget(view);
    layout->addWidget(line);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    view->setFocus();
    QCOMPARE(frame.framed(), view);
    QCOMPARE(view->grab().toImage().pixelColor(1, view->height() / 2).name(),
        window.palette().color(QPalette::Highlight).name());
    line->setFocus();
    QVERIFY(!frame.framed());
    view->setFocus();
    delete view; // the frame goes with it
    QVERIFY(!frame.framed());
}

void TestWorkbenchStyle::labelsArePlain()
{
    QLabel label("<b>x</b>");
    QLabel rich("<b>x</b>");
    rich.setTextFormat(Qt::RichText);
    label.ensurePolished();
    rich.ensurePolished();
    QCOMPARE(label.textFormat(), Qt::PlainText);
    QCOMPARE(rich.textFormat(), Qt::RichText);
    QVERIFY(label.sizeHint().width() > rich.sizeHint().width());
}

QTEST_MAIN(TestWorkbenchStyle)
#include "tst_workbench_style.moc"
