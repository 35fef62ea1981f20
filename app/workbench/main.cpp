// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/mainwindow.h"
#include "shell/screenshots.h"
#include "style/theme.h"
#include "units/version.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QStyleFactory>

#include <csignal>

int main(int argc, char** argv)
{
    // A file-size limit shall end as an error that says so, not as a signal.
    std::signal(SIGXFSZ, SIG_IGN);

    QApplication app(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("kvworkbench"));
    QApplication::setApplicationName(QStringLiteral("KV Workbench"));
    QApplication::setApplicationVersion(QString::fromUtf8(kvw::version()));
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));

    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Plans the attention-state memory of LLM serving."));
    parser.addHelpOption();
    parser.addVersionOption();
    QCommandLineOption theme(QStringLiteral("theme"),
        QStringLiteral("light, dark, or system (default: as chosen last)"), QStringLiteral("name"));
    parser.addOption(theme);
    QCommandLineOption screenshots(QStringLiteral("screenshots"),
        QStringLiteral("Grab every page into this folder and end"), QStringLiteral("folder"));
    QCommandLineOption size(QStringLiteral("size"), QStringLiteral("Size of the window: 1280x720"),
        QStringLiteral("size"), QStringLiteral("1280x720"));
    for (QCommandLineOption* option : {&screenshots, &size}) {
        option->setFlags(QCommandLineOption::HiddenFromHelp); // for the pictures of the documentation
        parser.addOption(*option);
    }
    parser.addPositionalArgument(QStringLiteral("FILE"), QStringLiteral("Plan, config.json or model folder to open"));
    parser.process(app);

    kvw::gui::startTheme(parser.isSet(theme) ? kvw::gui::themeFromName(parser.value(theme)) : kvw::gui::savedTheme());

    kvw::gui::MainWindow window;
    if (!parser.positionalArguments().isEmpty())
        window.openPath(parser.positionalArguments().front());
    if (parser.isSet(screenshots)) {
        const QStringList parts = parser.value(size).split(QLatin1Char('x'));
        const QSize pixels(parts.value(0).toInt(), parts.value(1).toInt());
        const QString suffix
            = QStringLiteral("%1-%2-%3x").arg(parser.value(theme), parser.value(size)).arg(window.devicePixelRatioF());
        return kvw::gui::takeScreenshots(window, parser.value(screenshots), pixels, suffix) > 0 ? 0 : 1;
    }
    window.show();
    return QApplication::exec();
}
