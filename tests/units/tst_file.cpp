// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/file.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kvw;

namespace {

/// What the replaced system calls do; plain functions cannot carry it.
struct Fault
{
    std::size_t accepted = SIZE_MAX; ///< bytes that write() takes in all
    std::size_t most = SIZE_MAX; ///< bytes that it takes at a time
    int writeError = 0; ///< after `accepted` bytes; 0: it returns 0
    int interruptions = 0; ///< EINTR so many times first
    int syncError = 0;
    int renameError = 0;
};
Fault fault;

long faultyWrite(int descriptor, const void* data, std::size_t size)
{
    if (fault.interruptions > 0) {
        --fault.interruptions;
        errno = EINTR;
        return -1;
    }
    if (fault.accepted == 0) {
        errno = fault.writeError;
        return fault.writeError == 0 ? 0 : -1;
    }
    const long written = ::write(descriptor, data, std::min({size, fault.most, fault.accepted}));
    fault.accepted -= static_cast<std::size_t>(std::max(written, 0L));
    return written;
}

int faultySync(int descriptor)
{
    errno = fault.syncError;
    return fault.syncError == 0 ? ::fsync(descriptor) : -1;
}

int faultyRename(const char* from, const char* to)
{
    errno = fault.renameError;
    return fault.renameError == 0 ? std::rename(from, to) : -1;
}

constexpr FileOperations faultyOperations {faultyWrite, faultySync, faultyRename};

std::string randomBytes(std::size_t size)
{
    static std::mt19937_64 random(1);
    std::string out(size, '\0');
    std::generate(out.begin(), out.end(), [] { return static_cast<char>(random()); });
    return out;
}

void put(const std::string& path, const std::string& content)
{
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(content.data(), static_cast<qint64>(content.size())), static_cast<qint64>(content.size()));
}

/// Read by Qt, not by the code under test; nothing when there is no such file.
std::optional<std::string> contentOf(const std::string& path)
{
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly))
        return std::nullopt;
    return file.readAll().toStdString();
}

QStringList entries(const std::string& folder)
{
    return QDir(QString::fromStdString(folder))
        .entryList(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot, QDir::Name);
}

std::ptrdiff_t openDescriptors()
{
    using std::filesystem::directory_iterator;
    return std::distance(directory_iterator("/proc/self/fd"), directory_iterator());
}

mode_t modeOf(const std::string& path)
{
    struct stat facts
    {};
    return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

} // namespace

class FileTest : public QObject
{
    Q_OBJECT
private slots:
    void init();
    void writesWhatItIsGiven_data();
    void writesWhatItIsGiven();
    void aFailureKeepsTheOldFile_data();
    void aFailureKeepsTheOldFile();
    void aFullDiskInEarnest();
    void aLinkIsFollowed();
    void permissions();
    void placesWhereNothingCanBe();
    void reads();

private:
    std::string at(const char* name) const { return m_folder->filePath(QString::fromUtf8(name)).toStdString(); }
    std::string folder() const { return m_folder->path().toStdString(); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void FileTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    fault = {};
}

void FileTest::writesWhatItIsGiven_data()
{
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("most");
    QTest::addColumn<int>("interruptions");
    QTest::newRow("nothing") << 0 << 100 << 0;
    QTest::newRow("at once") << 100'000 << 1'000'000 << 0;
    QTest::newRow("byte by byte") << 1'000 << 1 << 0;
    QTest::newRow("short writes and interruptions") << 100'000 << 4'093 << 5;
}

void FileTest::writesWhatItIsGiven()
{
    QFETCH(int, size);
    QFETCH(int, most);
    QFETCH(int, interruptions);
    const std::ptrdiff_t before = openDescriptors();
    for (const char* name : {"new.kvplan", "old.kvplan"}) {
        put(at("old.kvplan"), randomBytes(5'000));
        const std::string content = randomBytes(static_cast<std::size_t>(size));
        fault = {};
        fault.most = static_cast<std::size_t>(most);
        fault.interruptions = interruptions;
        const Result<void> written = writeFileAtomically(at(name), content, faultyOperations);
        QVERIFY2(written, written ? "" : written.error().text().c_str());
        QVERIFY(contentOf(at(name)) == content);
        QCOMPARE(fault.interruptions, 0);
    }
    QCOMPARE(entries(folder()), QStringList({"new.kvplan", "old.kvplan"}));
    QCOMPARE(openDescriptors(), before);
}

void FileTest::aFailureKeepsTheOldFile_data()
{
    QTest::addColumn<int>("accepted"); // bytes before write() fails; -1: it does not
    QTest::addColumn<int>("writeError");
    QTest::addColumn<int>("syncError");
    QTest::addColumn<int>("renameError");
    QTest::addColumn<QString>("code");
    QTest::addColumn<int>("named"); // the error that the message must name
    QTest::newRow("no space from the start") << 0 << ENOSPC << 0 << 0 << "io.write" << ENOSPC;
    QTest::newRow("no space after some") << 4'096 << ENOSPC << 0 << 0 << "io.write" << ENOSPC;
    QTest::newRow("no space for the last byte") << 19'999 << ENOSPC << 0 << 0 << "io.write" << ENOSPC;
    QTest::newRow("too large") << 1'000 << EFBIG << 0 << 0 << "io.write" << EFBIG;
    QTest::newRow("device error") << 1'000 << EIO << 0 << 0 << "io.write" << EIO;
    QTest::newRow("quota") << 0 << EDQUOT << 0 << 0 << "io.write" << EDQUOT;
    QTest::newRow("writes nothing") << 1'000 << 0 << 0 << 0 << "io.write" << ENOSPC;
    QTest::newRow("sync") << -1 << 0 << EIO << 0 << "io.sync" << EIO;
    QTest::newRow("sync without space") << -1 << 0 << ENOSPC << 0 << "io.sync" << ENOSPC;
    QTest::newRow("rename") << -1 << 0 << 0 << EACCES << "io.rename" << EACCES;
    QTest::newRow("rename on a read-only disk") << -1 << 0 << 0 << EROFS << "io.rename" << EROFS;
}

void FileTest::aFailureKeepsTheOldFile()
{
    QFETCH(int, accepted);
    QFETCH(int, writeError);
    QFETCH(int, syncError);
    QFETCH(int, renameError);
    QFETCH(QString, code);
    QFETCH(int, named);
    const std::string old = randomBytes(7'000);
    put(at("old.kvplan"), old);
    QVERIFY(::chmod(at("old.kvplan").c_str(), 0640) == 0);
    const std::ptrdiff_t before = openDescriptors();
    for (const char* name : {"old.kvplan", "new.kvplan"}) {
        fault = {};
        if (accepted >= 0)
            fault.accepted = static_cast<std::size_t>(accepted);
        fault.most = 3'000;
        fault.writeError = writeError;
        fault.syncError = syncError;
        fault.renameError = renameError;
        const Result<void> written = writeFileAtomically(at(name), randomBytes(20'000), faultyOperations);
        QVERIFY(!written);
        QCOMPARE(QString::fromStdString(written.error().code), code);
        QCOMPARE(written.error().where.file, at(name));
        QVERIFY2(
            written.error().text().find(std::strerror(named)) != std::string::npos, written.error().text().c_str());
        QVERIFY(contentOf(at("old.kvplan")) == old);
        QCOMPARE(modeOf(at("old.kvplan")), mode_t {0640});
        QCOMPARE(entries(folder()), QStringList {"old.kvplan"});
    }
    QCOMPARE(openDescriptors(), before);
}

/// The kernel's own refusal, in a process whose files may not grow beyond 10,000 bytes.
void FileTest::aFullDiskInEarnest()
{
    const std::string path = at("old.kvplan");
    const std::string old = randomBytes(7'000);
    put(path, old);
    const std::string content = randomBytes(30'000);
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit {10'000, 10'000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
            ::_exit(2);
        const Result<void> written = writeFileAtomically(path, content);
        const bool named = !written && written.error().code == "io.write"
            && written.error().text().find(std::strerror(EFBIG)) != std::string::npos;
        ::_exit(named ? 0 : 1);
    }
    int status = 0;
    QVERIFY(::waitpid(child, &status, 0) == child);
    QVERIFY2(WIFEXITED(status) && WEXITSTATUS(status) == 0, qPrintable(QString::number(status)));
    QVERIFY(contentOf(path) == old);
    QCOMPARE(entries(folder()), QStringList {"old.kvplan"});
}

void FileTest::aLinkIsFollowed()
{
    QVERIFY(QDir(m_folder->path()).mkpath("plans/deep"));
    put(at("plans/real.kvplan"), "old");
    const auto link = [this](const char* to, const char* name) { QVERIFY(::symlink(to, at(name).c_str()) == 0); };
    link("../real.kvplan", "plans/deep/relative.kvplan");
    link(at("plans/deep/relative.kvplan").c_str(), "absolute.kvplan"); // to a link
    link("plans/not-there-yet.kvplan", "dangling.kvplan");
    link("circle-2.kvplan", "circle-1.kvplan");
    link("circle-1.kvplan", "circle-2.kvplan");

    for (const char* name : {"plans/deep/relative.kvplan", "absolute.kvplan"}) {
        const std::string content = randomBytes(100);
        QVERIFY(writeFileAtomically(at(name), content));
        QVERIFY(contentOf(at("plans/real.kvplan")) == content);
    }
    QVERIFY(writeFileAtomically(at("dangling.kvplan"), "made"));
    QVERIFY(contentOf(at("plans/not-there-yet.kvplan")) == "made");
    const Result<void> circle = writeFileAtomically(at("circle-1.kvplan"), "x");
    QVERIFY(!circle && circle.error().code == "io.create");

    for (const char* name :
        {"plans/deep/relative.kvplan", "absolute.kvplan", "dangling.kvplan", "circle-1.kvplan", "circle-2.kvplan"})
        QVERIFY2(std::filesystem::is_symlink(at(name)), name);
    QCOMPARE(entries(at("plans")), QStringList({"deep", "not-there-yet.kvplan", "real.kvplan"}));
    QCOMPARE(entries(at("plans/deep")), QStringList {"relative.kvplan"});
    QCOMPARE(entries(folder()).size(), 5);
}

void FileTest::permissions()
{
    const mode_t before = ::umask(027);
    for (const mode_t mode : {0600U, 0640U, 0644U, 0666U, 0400U, 0755U}) {
        put(at("old.kvplan"), "old");
        QVERIFY(::chmod(at("old.kvplan").c_str(), mode) == 0);
        QVERIFY(writeFileAtomically(at("old.kvplan"), "new"));
        QCOMPARE(modeOf(at("old.kvplan")), mode);
        QVERIFY(QFile::remove(QString::fromStdString(at("old.kvplan"))));
    }
    QVERIFY(writeFileAtomically(at("new.kvplan"), "new"));
    QCOMPARE(modeOf(at("new.kvplan")), mode_t {0640});
    QCOMPARE(::umask(before), mode_t {027}); // left as it was
}

void FileTest::placesWhereNothingCanBe()
{
    QVERIFY(QDir(m_folder->path()).mkpath("folder"));
    for (const char* name : {"folder", "no-folder/plan.kvplan"}) {
        const Result<void> written = writeFileAtomically(at(name), "x");
        QVERIFY(!written);
        QCOMPARE(written.error().code, std::string("io.create"));
        QCOMPARE(written.error().where.file, at(name));
    }
    const Result<void> device = writeFileAtomically("/dev/null", "x");
    QVERIFY(!device && device.error().code == "io.create");
    QCOMPARE(entries(folder()), QStringList {"folder"});
    if (::geteuid() == 0)
        return; // nothing is closed to the superuser
    QVERIFY(::chmod(at("folder").c_str(), 0500) == 0);
    const Result<void> closed = writeFileAtomically(at("folder/plan.kvplan"), "x");
    QVERIFY(!closed && closed.error().code == "io.create");
}

void FileTest::reads()
{
    const std::ptrdiff_t before = openDescriptors();
    for (const std::size_t size : {0U, 1U, 65'535U, 65'536U, 65'537U, 300'000U}) {
        const std::string content = randomBytes(size);
        put(at("file"), content);
        const Result<std::string> whole = readFile(at("file"), size);
        QVERIFY(whole && *whole == content);
        QVERIFY(readFile(at("file"), SIZE_MAX).ok());
        if (size == 0)
            continue;
        const Result<std::string> larger = readFile(at("file"), size - 1);
        QVERIFY(!larger);
        QCOMPARE(larger.error().code, std::string("io.size"));
        QVERIFY(larger.error().expected.find(std::to_string(size - 1)) != std::string::npos);
        QCOMPARE(larger.error().where.file, at("file"));
    }
    const Result<std::string> missing = readFile(at("missing"), 10);
    QVERIFY(!missing && missing.error().code == "io.open" && missing.error().where.file == at("missing"));
    QVERIFY(missing.error().text().find(std::strerror(ENOENT)) != std::string::npos);
    const Result<std::string> directory = readFile(folder(), 10);
    QVERIFY(!directory && directory.error().code == "io.read");
    QVERIFY(directory.error().text().find(std::strerror(EISDIR)) != std::string::npos);
    QCOMPARE(openDescriptors(), before);
}

QTEST_APPLESS_MAIN(FileTest)
#include "tst_file.moc"
