// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/run_setup.h"
#include "serving/trust.h"

#include <QTest>

#include <random>

using namespace kvw;

namespace {

Tenant tenant(const std::string& id, const std::string& group, Eligibility eligibility)
{
    Tenant out;
    out.id = id;
    out.sharingGroup = group;
    out.eligibility = eligibility;
    return out;
}

bool share(const Plan& plan, std::size_t a, std::size_t b)
{
    const std::vector<SharingDomain> domains = resolveDomains(plan);
    return domains[a].key == domains[b].key;
}

} // namespace

class TestTrust : public QObject
{
    Q_OBJECT

private slots:
    void matrix();
    void joinAndLeave();
    void anyChange();
};

void TestTrust::matrix()
{
    Plan plan;
    plan.tenants = {tenant("a", "g", Eligibility::Group), tenant("b", "g", Eligibility::Group),
        tenant("c", "g", Eligibility::Tenant), tenant("d", "", Eligibility::NotStated)};
    const auto trust = trustMatrix(plan);
    QCOMPARE(trust.size(), 4U);
    QCOMPARE(trust[0][0], Trust::Own);
    QCOMPARE(trust[0][1], Trust::Group);
    QCOMPARE(trust[1][0], Trust::Group);
    QCOMPARE(trust[0][2], Trust::Never); // names the group, but is not eligible
    QCOMPARE(trust[3][0], Trust::Never);
    QVERIFY(trustMatrix(Plan {}).empty());
}

void TestTrust::joinAndLeave()
{
    Plan plan;
    plan.tenants = {tenant("a", "g", Eligibility::Group), tenant("b", "g", Eligibility::Group),
        tenant("c", "g", Eligibility::Tenant)};
    // c is alone: it moves, and a and b go on sharing.
    QCOMPARE(setTrust(plan, 1, 2, true), std::string("c joins g"));
    QVERIFY(share(plan, 1, 2) && share(plan, 0, 1) && share(plan, 0, 2));
    QCOMPARE(setTrust(plan, 1, 2, false), std::string("b keeps its state for itself, and no longer shares with a"));
    QVERIFY(!share(plan, 1, 2));
    QVERIFY(share(plan, 0, 2));
    QCOMPARE(plan.provenance.find("tenants.b.eligibility")->kind, Source::Kind::User);
    // b, alone though it names g, gets a group that nobody else is in when d, alone too, joins it.
    plan.tenants.push_back(tenant("d", "", Eligibility::NotStated));
    QCOMPARE(setTrust(plan, 3, 1, true), std::string("d joins g-2"));
    QVERIFY(share(plan, 3, 1));
    QVERIFY(!share(plan, 3, 0) && !share(plan, 1, 0));
    // Both have partners: the row moves, and it is said what it leaves.
    QCOMPARE(setTrust(plan, 3, 0, true), std::string("d joins g, and no longer shares with b"));
    QVERIFY(share(plan, 3, 0) && share(plan, 3, 2) && !share(plan, 3, 1));
}

void TestTrust::anyChange()
{
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        Plan plan;
        const std::size_t count = 2 + random() % 5;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string groups[] {"", "g", "h", "group-t0"};
            plan.tenants.push_back(
                tenant("t" + std::to_string(i), groups[random() % 4], static_cast<Eligibility>(random() % 3)));
        }
        const std::size_t row = random() % count;
        const std::size_t column = (row + 1 + random() % (count - 1)) % count;
        const bool wanted = random() % 2 == 0;
        const Plan before = plan;
        const auto isAlone = [&](std::size_t tenant) {
            for (std::size_t other = 0; other < count; ++other) {
                if (other != tenant && share(before, tenant, other))
                    return false;
            }
            return true;
        };
        const std::size_t mover = wanted && !isAlone(row) && isAlone(column) ? column : row;
        setTrust(plan, row, column, wanted);
        QCOMPARE(share(plan, row, column), wanted);
        for (std::size_t a = 0; a < count; ++a) {
            for (std::size_t b = 0; b < count; ++b) {
                if (a != mover && b != mover)
                    QCOMPARE(share(plan, a, b), share(before, a, b)); // nobody else's sharing changes
                else if (a != b && !wanted)
                    QVERIFY(!share(plan, a, b)); // who leaves, leaves all
            }
        }
    }
}

QTEST_GUILESS_MAIN(TestTrust)
#include "tst_trust.moc"
