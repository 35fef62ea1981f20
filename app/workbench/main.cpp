// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "export_command.h"
#include "shell/mainwindow.h"
#include "shell/readiness.h"
#include "shell/screenshots.h"
#include "style/theme.h"
#include "units/version.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QHashSeed>
#include <QStyleFactory>

#include <csignal>
#include <cstring>

namespace {

/// An export shows no window, so it must not need a display. Known before Qt parses anything.
bool wantsExport(int argc, char** argv)
{
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], "--export", 8) == 0)
            return true;
    }
    return false;
}

} // namespace

int main(int argc, char** argv)
{
    // A file-size limit shall end as an error that says so, not as a signal.
    std::signal(SIGXFSZ, SIG_IGN);

    if (wantsExport(argc, argv)) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
        QHashSeed::setDeterministicGlobalSeed(); // the same plan gives the same file, up to its date
    }
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
    QCommandLineOption exportTo(QStringLiteral("export"),
        QStringLiteral("Write the report of FILE as a PDF to this path, without a window; exit status as of kvw"),
        QStringLiteral("plan.pdf"));
    parser.addOption(exportTo);
    QCommandLineOption paper(QStringLiteral("paper"), QStringLiteral("With --export: A4 (default) or Letter"),
        QStringLiteral("size"), QStringLiteral("A4"));
    parser.addOption(paper);
    QCommandLineOption screenshots(QStringLiteral("screenshots"),
        QStringLiteral("Grab every page into this folder and end"), QStringLiteral("folder"));
    QCommandLineOption size(QStringLiteral("size"), QStringLiteral("Size of the window: 1280x720"),
        QStringLiteral("size"), QStringLiteral("1280x720"));
    QCommandLineOption untilReady(QStringLiteral("until-ready"),
        QStringLiteral("Print \"ready\" once the window is painted and waits for input, and end"));
    for (QCommandLineOption* option : {&screenshots, &size, &untilReady}) {
        option->setFlags(QCommandLineOption::HiddenFromHelp); // for pictures and measurements
        parser.addOption(*option);
    }
    parser.addPositionalArgument(QStringLiteral("FILE"),
        QStringLiteral("Plan, config.json, checkpoint folder or GGUF file to open, or library:ID"));
    parser.process(app);

    if (parser.isSet(exportTo)) {
        const QStringList files = parser.positionalArguments();
        return kvw::gui::runExport(
            {files.size() == 1 ? files.front() : QString(), parser.value(exportTo), parser.value(paper)});
    }

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
    if (parser.isSet(untilReady))
        kvw::gui::endWhenReady(window);
    window.show();
    return QApplication::exec();
}
