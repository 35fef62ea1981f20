// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/tokens.h"

namespace kvw::gui {

namespace {

QColor rgb(unsigned value)
{
    return QColor::fromRgb(value);
}

Tokens lightTokens()
{
    Tokens t;
    t.text = rgb(0x1A1C1E);
    t.dimText = rgb(0x5C6167);
    t.line = rgb(0xC9CCD0);
    t.hairLine = rgb(0xE2E4E7);
    t.rule = rgb(0x50555C);
    t.highlight = rgb(0x2A6FA8);
    t.derived = rgb(0x1F5F99);
    t.assumed = rgb(0x8A5A00);
    t.measured = rgb(0x00655B);
    t.staleText = rgb(0x8A5A00);
    t.staleGround = rgb(0xFFF4D6);
    t.agrees = rgb(0x1B7358);
    t.differs = rgb(0xB3261E);
    t.warning = rgb(0x8A5A00);
    t.noVerdict = rgb(0x5C6167);
    t.retainedHead = rgb(0xE4EDF5);
    t.retainedCell = rgb(0xF1F6FA);
    t.blockFree = rgb(0xE4E7EA);
    t.blockActive = rgb(0x3D7FC1);
    t.blockShared = rgb(0x174A82);
    t.blockPrivate = rgb(0x86BBE8);
    t.blockCached = rgb(0xE3A72F);
    t.blockCachedLine = rgb(0x7A4F00);
    t.blockHeld = rgb(0x50555C);
    t.blockMoved = rgb(0x7A5320);
    t.tenants = {rgb(0x3E6CAC), rgb(0xBE7F3B), rgb(0x023F2F), rgb(0x984464), rgb(0x605D2A), rgb(0x0A9FD3),
        rgb(0x3F2A6C), rgb(0x8B928C)};
    t.sequential = {rgb(0xE3EEF4), rgb(0xB9D5E3), rgb(0x86B6CC), rgb(0x5292B1), rgb(0x2B6C90), rgb(0x123F5C)};
    t.idealNeed = rgb(0x2A6FA8);
    t.difference = rgb(0xE3A72F);
    t.engineNeed = rgb(0xD5DAE0);
    return t;
}

Tokens darkTokens()
{
    Tokens t;
    t.text = rgb(0xE6E8EA);
    t.dimText = rgb(0xA3A9B0);
    t.line = rgb(0x474B50);
    t.hairLine = rgb(0x34373B);
    t.rule = rgb(0x8D949C);
    t.highlight = rgb(0x2F6FA6);
    t.derived = rgb(0x7DB8EA);
    t.assumed = rgb(0xE6B450);
    t.measured = rgb(0x5CC8B8);
    t.staleText = rgb(0xE6B450);
    t.staleGround = rgb(0x3A3117);
    t.agrees = rgb(0x5CC6A0);
    t.differs = rgb(0xFF8A80);
    t.warning = rgb(0xE6B450);
    t.noVerdict = rgb(0xA3A9B0);
    t.retainedHead = rgb(0x24313C);
    t.retainedCell = rgb(0x202A32);
    t.blockFree = rgb(0x303439);
    t.blockActive = rgb(0x4C93D9);
    t.blockShared = rgb(0x2F6DB5);
    t.blockPrivate = rgb(0x9CCBF2);
    t.blockCached = rgb(0xE0A83C);
    t.blockCachedLine = rgb(0x5A3F0A);
    t.blockHeld = rgb(0x8D949C);
    t.blockMoved = rgb(0x8F6747);
    t.tenants = {rgb(0x838FCA), rgb(0xC79452), rgb(0x83D2B7), rgb(0x8E5F78), rgb(0x67741F), rgb(0xB5C4DA),
        rgb(0x6B5BB8), rgb(0x91837A)};
    t.sequential = {rgb(0x24333D), rgb(0x2C4F63), rgb(0x34718F), rgb(0x4C97B8), rgb(0x85BFD8), rgb(0xCBE6F2)};
    t.idealNeed = rgb(0x4C93D9);
    t.difference = rgb(0xE0A83C);
    t.engineNeed = rgb(0x474B50);
    return t;
}

QPalette paletteOf(unsigned window, unsigned base, unsigned alternate, const Tokens& t)
{
    QPalette p;
    p.setColor(QPalette::Window, rgb(window));
    p.setColor(QPalette::Base, rgb(base));
    p.setColor(QPalette::AlternateBase, rgb(alternate));
    p.setColor(QPalette::Button, rgb(window));
    for (const QPalette::ColorRole role :
        {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
        p.setColor(role, t.text);
    p.setColor(QPalette::ToolTipBase, rgb(base));
    p.setColor(QPalette::PlaceholderText, t.dimText);
    p.setColor(QPalette::Highlight, t.highlight);
    p.setColor(QPalette::HighlightedText, Qt::white);
    p.setColor(QPalette::Link, t.derived);
    p.setColor(QPalette::Mid, t.line);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, t.dimText);
    return p;
}

} // namespace

bool isDark(const QPalette& palette)
{
    return palette.color(QPalette::Window).lightnessF() < 0.5F;
}

const Tokens& tokensFor(const QPalette& palette)
{
    static const Tokens light = lightTokens();
    static const Tokens dark = darkTokens();
    return isDark(palette) ? dark : light;
}

QPalette lightPalette()
{
    return paletteOf(0xEFEFEF, 0xFFFFFF, 0xF6F7F8, lightTokens());
}

QPalette darkPalette()
{
    QPalette p = paletteOf(0x2A2C2F, 0x1D1F21, 0x232528, darkTokens());
    p.setColor(QPalette::Light, rgb(0x3A3D41));
    p.setColor(QPalette::Midlight, rgb(0x34373B));
    p.setColor(QPalette::Dark, rgb(0x17181A));
    p.setColor(QPalette::Shadow, rgb(0x101112));
    return p;
}

} // namespace kvw::gui
