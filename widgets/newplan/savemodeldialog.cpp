// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "newplan/savemodeldialog.h"

#include "models/numbertext.h"
#include "plan/own_library.h"
#include "style/tokens.h"

#include <QDate>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace kvw::gui {

namespace {

std::string today()
{
    return QDate::currentDate().toString(Qt::ISODate).toStdString();
}

/// "18 full + 18 sliding"
QString layersOf(const Plan& plan)
{
    QStringList parts;
    for (const LayerGroup& group : plan.worksheet.groups)
        parts.push_back(QStringLiteral("%1 %2").arg(countText(group.layers), fromStd(group.id)));
    return parts.join(QStringLiteral(" + "));
}

} // namespace

SaveModelDialog::SaveModelDialog(const PlanDocument& document, const QString& libraryFolder, QWidget* parent)
    : QDialog(parent)
    , m_document(document)
    , m_folder(libraryFolder)
    , m_name(new QLineEdit(this))
    , m_about(new QLabel(this))
{
    setObjectName(QStringLiteral("saveModelDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Save the model to the own library"));
    const Plan& plan = document.plan();
    m_name->setObjectName(QStringLiteral("saveModelName"));
    m_name->setAccessibleName(tr("Name of the model"));
    m_name->setText(fromStd(plan.model.name.empty() ? plan.document.title : plan.model.name));
    m_name->selectAll();
    m_about->setObjectName(QStringLiteral("saveModelAbout"));
    m_about->setTextFormat(Qt::PlainText);
    m_about->setWordWrap(true);
    m_about->setMinimumWidth(fontMetrics().averageCharWidth() * 60);
    auto* form = new QFormLayout;
    form->addRow(tr("&Name:"), m_name);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_save = buttons->addButton(tr("&Save"), QDialogButtonBox::AcceptRole);
    m_save->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(8);
    layout->addLayout(form);
    layout->addWidget(m_about);
    layout->addStretch(1);
    layout->addWidget(buttons);
    connect(m_name, &QLineEdit::textChanged, this, &SaveModelDialog::refresh);
    connect(buttons, &QDialogButtonBox::accepted, this, &SaveModelDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &SaveModelDialog::reject);
    connect(&document, &PlanDocument::planChanged, this, &SaveModelDialog::refresh);
    refresh();
}

void SaveModelDialog::tell(const QString& text, bool wrong)
{
    QPalette ink = palette();
    if (wrong)
        ink.setColor(QPalette::WindowText, tokensFor(palette()).differs);
    m_about->setPalette(ink);
    m_about->setText((wrong ? QStringLiteral("✗ ") : QString()) + text);
}

void SaveModelDialog::refresh()
{
    const std::string name = m_name->text().trimmed().toStdString();
    const Result<LibraryModel> entry = ownModelOf(m_document.plan(), name, today());
    m_save->setEnabled(entry.ok());
    m_replaces = false;
    if (!entry) {
        tell(QString::fromStdString(entry.error().text()), true);
        m_save->setText(tr("&Save"));
        return;
    }
    const QString file = QString::fromStdString(ownModelFile(m_folder.toStdString(), name));
    m_replaces = QFileInfo::exists(file);
    m_save->setText(m_replaces ? tr("&Replace") : tr("&Save"));
    m_save->setDefault(!m_replaces); // Enter never replaces
    m_save->setAutoDefault(!m_replaces);
    QString text = tr("%1, as the worksheet has them.\n%2").arg(layersOf(m_document.plan()), file);
    if (m_replaces)
        text.prepend(QStringLiteral("! ") + tr("An entry is saved in this file already. Replace takes its place.")
            + QLatin1Char('\n'));
    tell(text, false);
}

void SaveModelDialog::accept()
{
    const Result<LibraryModel> entry = ownModelOf(m_document.plan(), m_name->text().trimmed().toStdString(), today());
    const Result<std::string> file = entry
        ? saveOwnModel(*entry, m_folder.toStdString(), m_replaces ? WhenThere::Replace : WhenThere::Refuse)
        : Result<std::string>(entry.error());
    if (!file) {
        if (file.error().code == "library.exists")
            refresh(); // it came since; now the button says what it does
        else
            tell(QString::fromStdString(file.error().text()), true);
        return;
    }
    QDialog::accept();
    emit saved(QString::fromStdString(*file));
}

} // namespace kvw::gui
