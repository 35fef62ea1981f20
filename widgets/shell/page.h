// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QStringList>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QStackedLayout;
class QVBoxLayout;

namespace kvw::gui {

/// Property of a splitter whose sizes were remembered: a page leaves it as it is.
constexpr const char* restoredProperty = "kvwRestored";
/// Property of splitters: true while nobody moved them, so that their sizes are not remembered.
constexpr const char* automaticProperty = "kvwAutomatic";

/// A page of the workbench: a header line (name, purpose, headline, action) over its content.
class Page : public QWidget
{
    Q_OBJECT

public:
    /// `id`: stable name ("worksheet"), also the object name.
    Page(const QString& id, const QString& name, const QString& purpose, QWidget* parent = nullptr);

    QString id() const;
    QString name() const;
    /// Prefixes of plan paths that are edited here, for problems and "go to field".
    virtual QStringList fieldPrefixes() const;
    /// Shows and focuses the field at `path`; false when it is not here.
    virtual bool showField(const QString& path);
    /// "stale", "▶", or empty: drawn in the rail.
    virtual QString badge() const;
    /// Where what is shown comes from, for the status bar: "prediction of this plan"; empty: the estimate.
    virtual QString sourceText() const;
    /// Shows and selects the figure at `path` of the estimate; false when it is not here.
    virtual bool showFigure(const QString& path);
    /// The page's own dock (legend, fields), or null; it stays the page's.
    virtual QWidget* side() const;
    virtual QString sideTitle() const;
    /// One sentence: what the page is for.
    QString purpose() const;
    /// Whether what the page shows is still being read, laid out or computed.
    virtual bool isBusy() const;
    /// Somebody asked for a prediction while this page is shown: what else the page predicts.
    virtual void predict();
    /// What has the focus when somebody comes here by key: the page's main view.
    virtual QWidget* mainView() const;
    /// In the order of Tab: the header's own buttons first.
    QWidgetList tabOrder() const;
    /// Takes the message bar into its header, in the place of name and purpose: nothing below moves.
    void hostMessage(QWidget* bar);
    /// Shows the hosted message bar, or name and purpose again.
    void showMessage(bool shown);

signals:
    /// The user selected a number; empty when the selection has none.
    void figureSelected(const QString& figure);
    /// The figure that was selected last has another value, or another explanation.
    void figureChanged();
    /// For the status bar: exact value of the selection.
    void selectionText(const QString& text);
    /// Something failed or was refused: one sentence for the message bar.
    void message(const QString& text);
    /// Something went well that shows nowhere else: one sentence for the message bar.
    void done(const QString& text);
    void badgeChanged();
    void sourceTextChanged();
    /// The user wants to edit the plan field at `path`, here or on another page.
    void fieldRequested(const QString& path);
    /// The page's own dock shall be seen.
    void sideRequested();

protected:
    void changeEvent(QEvent* event) override;
    /// Content goes here.
    QVBoxLayout* content() const;
    /// Right end of the header line: headline figure, primary button.
    QHBoxLayout* headerActions() const;
    /// `figure`: what a link in the text opens ("engine.maxConcurrency").
    void setHeadline(const QString& text, const QString& figure = {});
    /// A 23 px title strip over a pane.
    static QLabel* paneTitle(const QString& text, QWidget* parent);
    /// A framed pane: title strip with a dim `about` beside the title (may be null), `main`, and a note (may be null).
    QWidget* pane(const QString& title, QWidget* about, QWidget* main, QWidget* note);

private:
    QString m_name;
    QString m_purpose;
    QStackedLayout* m_head; ///< name and purpose, or the message bar
    QLabel* m_headline;
    QString m_headlineFigure;
    bool m_messageShown = false;
    QHBoxLayout* m_actions;
    QVBoxLayout* m_content;
};

} // namespace kvw::gui
