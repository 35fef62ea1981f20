// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// How long an edit of a worksheet with 64 layer groups takes until everything that depends on it is painted again: the
// plan, its hash, the estimate with its derivations, table, totals, bridge, curve, Explain, Problems and rail. The
// window is shown (offscreen unless QT_QPA_PLATFORM says otherwise) with the worksheet in front.
//   bench_edit [EDITS]

#include "plan/field_table.h"
#include "shell/mainwindow.h"
#include "style/theme.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using namespace kvw;

namespace {

constexpr int groups = 64;

Plan largePlan()
{
    Plan plan;
    plan.model.name = "64 groups";
    plan.cache.elementType = ElementType::Bf16;
    plan.engine.name = "none";
    plan.limits.maxModelLen = 131'072;
    plan.limits.concurrentSequences = 12;
    plan.worksheet.retainedTokens = 40'000;
    for (int i = 0; i < groups; ++i) {
        LayerGroup group;
        group.id = "group" + std::to_string(i);
        group.name = "Group " + std::to_string(i);
        group.layers = 1 + i % 7;
        GrowthLaw growth;
        if (i % 2 == 1) {
            growth.limit = 128 * (1 + i);
            group.kind = LayerKind::Sliding;
        }
        group.tensors = attentionTensors(8, 64 + i, 64 + i, growth);
        plan.worksheet.groups.push_back(std::move(group));
    }
    return plan;
}

} // namespace

int main(int argc, char** argv)
{
    const QTemporaryDir settings; // no layout of the user's own
    qputenv("XDG_CONFIG_HOME", settings.path().toUtf8());
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    QApplication::setStyle(QStringLiteral("Fusion"));
    gui::startTheme(gui::Theme::Light);
    const int edits = argc > 1 ? std::atoi(argv[1]) : 200;

    gui::MainWindow window;
    window.document().setPlan(largePlan(), {});
    window.resize(1280, 720);
    window.show();
    window.goToFigure(QStringLiteral("idealBytes"));
    for (int i = 0; i < 20; ++i)
        QApplication::processEvents();

    std::mt19937 random(1);
    std::vector<double> milliseconds;
    for (int i = 0; i < edits; ++i) {
        const int group = static_cast<int>(random() % groups);
        const QString path = QStringLiteral("worksheet.groups.group%1.%2")
                                 .arg(group)
                                 .arg(i % 2 == 0 ? QStringLiteral("layers") : QStringLiteral("tensors.k.heads"));
        const QString text = QString::number(2 + i % 90);
        QElapsedTimer timer;
        timer.start();
        if (!window.document().setField(path, text)) {
            std::fprintf(stderr, "edit %d was refused\n", i);
            return 1;
        }
        QApplication::processEvents(); // timers of the edit, posted repaints
        QApplication::processEvents(); // repaints that those asked for
        milliseconds.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    std::printf("%d edits of %d groups: median %.2f ms, 95th percentile %.2f ms, worst %.2f ms\n", edits, groups,
        milliseconds[milliseconds.size() / 2], milliseconds[milliseconds.size() * 95 / 100], milliseconds.back());
    return 0;
}
