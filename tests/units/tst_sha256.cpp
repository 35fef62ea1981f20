// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/sha256.h"
#include "units/sha256_block.h"

#include <QTest>

#include <openssl/evp.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace kvw;

namespace {

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

std::string byOpenSsl(const std::string& text)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest {};
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        return "OpenSSL failed";
    return QByteArray(reinterpret_cast<const char*>(digest.data()), static_cast<int>(size)).toHex().toStdString();
}

std::string randomBytes(std::mt19937_64& random, std::size_t size)
{
    std::string out(size, '\0');
    std::generate(out.begin(), out.end(), [&] { return static_cast<char>(random()); });
    return out;
}

} // namespace

class Sha256Test : public QObject
{
    Q_OBJECT
private slots:
    void published_data();
    void published();
    void everyLengthAroundABlock();
    void inPieces();
    void processorAsPortable();
    void beyond32BitsOfBits();
};

/// The examples that NIST publishes with FIPS 180-4.
void Sha256Test::published_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<QString>("digest");
    QTest::newRow("empty") << QByteArray() << "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    QTest::newRow("24 bits") << QByteArray("abc") << "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    QTest::newRow("448 bits") << QByteArray("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                              << "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
    QTest::newRow("896 bits") << QByteArray("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                                            "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")
                              << "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1";
    QTest::newRow("a million a") << QByteArray(1'000'000, 'a')
                                 << "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
}

void Sha256Test::published()
{
    QFETCH(QByteArray, message);
    QFETCH(QString, digest);
    QCOMPARE(q(Sha256::hex(message.toStdString())), digest);
}

void Sha256Test::everyLengthAroundABlock()
{
    std::mt19937_64 random(1);
    for (std::size_t size = 0; size <= 300; ++size) {
        const std::string text = randomBytes(random, size);
        QCOMPARE(q(Sha256::hex(text)), q(byOpenSsl(text)));
    }
}

void Sha256Test::inPieces()
{
    std::mt19937_64 random(2);
    for (int i = 0; i < 1'000; ++i) {
        const std::string text = randomBytes(random, random() % 5'000);
        Sha256 hash;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t piece = std::min<std::size_t>(random() % 200, text.size() - at); // 0 too
            const std::string_view part = std::string_view(text).substr(at, piece);
            if (random() % 2 == 0)
                hash.update(part);
            else
                hash.update(std::as_bytes(std::span(part)));
            at += piece;
        }
        hash.update(std::span<const std::byte> {});
        QCOMPARE(q(Sha256::hex(hash.digest())), q(byOpenSsl(text)));
    }
}

/// The instructions of the processor against plain C++: any state, any block, and runs of blocks.
void Sha256Test::processorAsPortable()
{
    const Sha256Block ofProcessor = sha256BlockOfProcessor();
    if (!ofProcessor)
        QSKIP("this processor has no instructions for it");
    std::mt19937_64 random(3);
    for (int i = 0; i < 2'000; ++i) {
        std::array<std::uint32_t, 8> expected {};
        std::generate(expected.begin(), expected.end(), [&] { return static_cast<std::uint32_t>(random()); });
        std::array<std::uint32_t, 8> found = expected;
        const std::size_t skew = random() % 16; // blocks need not be aligned
        const std::string bytes = randomBytes(random, skew + 64 * (1 + random() % 8));
        const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        for (std::size_t at = skew; at < bytes.size(); at += 64) {
            sha256BlockPortable(expected, data + at);
            ofProcessor(found, data + at);
            QVERIFY(found == expected);
        }
    }
}

/// 513 MiB are more than 2^32 bits: the length at the end of the message takes its upper word. Slow without
/// optimisation, so only where more than the usual is asked for.
void Sha256Test::beyond32BitsOfBits()
{
    if (qEnvironmentVariable("KVW_TEST_SCALE").toDouble() <= 1)
        QSKIP("KVW_TEST_SCALE is not above 1");
    const std::string mebibyte(std::size_t {1} << 20, 'k');
    Sha256 hash;
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    QVERIFY(EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
    for (int i = 0; i < 513; ++i) {
        hash.update(mebibyte);
        EVP_DigestUpdate(context, mebibyte.data(), mebibyte.size());
    }
    std::array<unsigned char, 32> digest {};
    EVP_DigestFinal_ex(context, digest.data(), nullptr);
    EVP_MD_CTX_free(context);
    const Sha256::Digest ours = hash.digest();
    QVERIFY(std::equal(ours.begin(), ours.end(), digest.begin()));
}

QTEST_APPLESS_MAIN(Sha256Test)
#include "tst_sha256.moc"
