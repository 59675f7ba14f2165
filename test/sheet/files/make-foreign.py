"""Makes the workbooks of foreign writers in this folder: LibreOffice (three locales), openpyxl and exceljs.

Needs soffice (Debian: libreoffice-calc), openpyxl (pip) and npm. Run it in this folder: python3 make-foreign.py
"""

import datetime
import os
import re
import shutil
import subprocess
import tempfile

import openpyxl

HERE = os.path.dirname(os.path.abspath(__file__))

# LibreOffice opens each CSV as its user would: with separator, language and a text column for article numbers and seeds.
GERMAN = """Bestellung November;;;;;;
SKU;Prompt;Seed;CFG;Termin;Anteil;Doppelt
00017;ein Fuchs, größer;18446744073709551615;7,5;21.11.2026;25 %;=D3*2
00018;Äpfel "süß";42;8;01.12.2026 08:30;80 %;=D4*2
Summe;;;;;;=SUM(G3:G4)
"""
FRENCH = """Référence;Prompt;Graine;CFG;Livraison;Part
A-1;une forêt d’été, brumeuse;9007199254740993;7,5;21/11/2026;12,5 %
A-2;« château »;123456789012345;1234,25;22/11/2026;100 %
Total;;;;;
"""
AMERICAN = """SKU,Prompt,Seed,CFG,Due,Share
00017,"a fox, red",42,7.5,11/21/2026,25%
00018,a "big" castle,123456789012345678,8,11/22/2026 8:30 AM,80%
00019,a lake,999999999999999,0.25,11/23/2026,5%
"""


def convert(source, to, *, infilter=None):
    flags = [] if infilter is None else [f"--infilter=CSV:{infilter}"]
    folder = os.path.dirname(source)
    profile = f"-env:UserInstallation=file://{folder}/profile"
    subprocess.run(
        ["soffice", profile, "--headless", *flags, "--convert-to", to, "--outdir", folder, source], check=True
    )


def libreoffice(name, text, separator, language, columns, title=False):
    with tempfile.TemporaryDirectory() as folder:
        sheet = os.path.join(folder, f"libreoffice-{name}.csv")
        with open(sheet, "w", encoding="utf-8") as file:
            file.write(text)
        # Separator, quote, UTF-8, first line, columns, language, detect dates and percentages, read formulas.
        infilter = f"{ord(separator)},34,76,1,{columns},{language},false,true,false,false,false,0,true"
        convert(sheet, "fods", infilter=infilter)
        flat = sheet.replace(".csv", ".fods")
        if title:
            with open(flat, encoding="utf-8") as file:
                xml = file.read()
            xml = re.sub("<table:table-cell ", '<table:table-cell table:number-columns-spanned="7" ', xml, count=1)
            with open(flat, "w", encoding="utf-8") as file:
                file.write(xml)
        convert(flat, "xlsx")
        shutil.copy(flat.replace(".fods", ".xlsx"), HERE)


def with_openpyxl():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Order & more"
    sheet.append(["Campaign", None, None, None])
    sheet.merge_cells("A1:D1")
    sheet.append(["id", "prompt", "seed", "due"])
    sheet.append(["a", "größer <b>", "18446744073709551615", datetime.date(2026, 11, 21)])
    sheet.append(["b", "two\nlines", 1234567890123456, datetime.datetime(2026, 11, 21, 8, 30)])
    sheet.append(["c", "three", 7, datetime.time(8, 30)])
    prices = book.create_sheet("Prices")
    prices.append(["gpu", "price"])
    book.create_sheet("Empty")
    hidden = book.create_sheet("Hidden")
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    book.save(os.path.join(HERE, "openpyxl-several.xlsx"))


EXCELJS = """
const ExcelJS = require('exceljs');
const book = new ExcelJS.Workbook();
const sheet = book.addWorksheet('Orders');
sheet.addRow(['prompt', 'seed', 'cfg', 'due', 'double']);
sheet.addRow([{ richText: [{ text: 'a ' }, { font: { bold: true }, text: 'red' }, { text: ' fox' }] },
  '18446744073709551615', 7.5, new Date(Date.UTC(2026, 10, 21)), { formula: 'C2*2', result: 15 }]);
sheet.addRow([{ text: 'a linked owl', hyperlink: 'https://example.com' }, 42, 0.1 + 0.2,
  new Date(Date.UTC(2026, 10, 21, 8, 30)), { formula: 'C3*2', result: 0.6000000000000001 }]);
sheet.addRow(['hidden', 43, 1, null, null]).hidden = true;
sheet.getColumn(4).numFmt = '[$-407]dd.mm.yyyy';
book.xlsx.writeFile(process.argv[2]);
"""


def with_exceljs():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "install", "--silent", "--prefix", folder, "exceljs@4.4.0"], check=True)
        program = os.path.join(folder, "make.js")
        with open(program, "w", encoding="utf-8") as file:
            file.write(EXCELJS)
        subprocess.run(["node", program, os.path.join(HERE, "exceljs.xlsx")], check=True)


libreoffice("de", GERMAN, ";", 1031, "1/2/3/2", title=True)
libreoffice("fr", FRENCH, ";", 1036, "3/2")
libreoffice("us", AMERICAN, ",", 1033, "1/2")
with_openpyxl()
with_exceljs()
