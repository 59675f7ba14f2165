"""Makes odfpy.ods and libreoffice.ods, sheets of foreign writers.

Needs odfpy and xlsxwriter (pip), and soffice (Debian: libreoffice-calc). Run it in this folder: python3 make-odf.py
"""

import base64
import io
import os
import subprocess
import tempfile

import xlsxwriter
from odf.office import Annotation
from odf.opendocument import OpenDocumentSpreadsheet
from odf.style import Style, TableProperties
from odf.table import Table, TableCell, TableRow
from odf.text import A, P, S

HERE = os.path.dirname(os.path.abspath(__file__))

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def cell(text=None, **attributes):
    made = TableCell(**attributes)
    if text is not None:
        made.addElement(P(text=text))
    return made


def text(value):
    return cell(value, valuetype="string")


def row(*cells, **attributes):
    made = TableRow(**attributes)
    for each in cells:
        made.addElement(each)
    return made


def table(name, *rows, **attributes):
    made = Table(name=name, **attributes)
    for each in rows:
        made.addElement(each)
    return made


def with_odfpy():
    document = OpenDocumentSpreadsheet()
    style = Style(name="hid", family="table")
    style.addElement(TableProperties(display="false"))
    document.automaticstyles.addElement(style)
    two = TableCell(valuetype="string")
    spaced = P(text="a red")
    spaced.addElement(S(c=2))
    spaced.addText("fox")
    two.addElement(spaced)
    two.addElement(P(text="in snow"))
    link = TableCell(valuetype="string")
    linked = P()
    linked.addElement(A(href="https://a.example/b.png", text="an owl"))
    link.addElement(linked)
    note = Annotation()
    note.addElement(P(text="a note"))
    link.addElement(note)
    prompts = table(
        "Prompts",
        row(text("prompt"), text("seed"), text("cfg"), text("sku"), text("when"), text("wide")),
        row(
            two,
            cell("9,007", valuetype="float", value="9007"),
            cell("7.5", valuetype="float", value="7.5"),
            cell("007", valuetype="float", value="7"),
            cell("21.11.26", valuetype="date", datevalue="2026-11-21"),
            cell("TRUE", valuetype="boolean", booleanvalue="true"),
        ),
        row(
            link,
            cell("4", valuetype="float", value="4", numbercolumnsrepeated="2"),
            text("B2"),
            TableCell(),
            cell("25 %", valuetype="percentage", value="0.25"),
            visibility="filter",
        ),
        TableRow(numberrowsrepeated="1048570"),
    )
    document.spreadsheet.addElement(prompts)
    document.spreadsheet.addElement(table("Notes", row(text("read me"))))
    document.spreadsheet.addElement(table("Secret", row(text("hidden")), stylename="hid"))
    document.save(os.path.join(HERE, "odfpy.ods"))


def with_libreoffice():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "libreoffice.xlsx")
        book = xlsxwriter.Workbook(path)
        sheet = book.add_worksheet("Shots")
        as_format = lambda code: book.add_format({"num_format": code})
        sheet.write_row(0, 0, ["prompt", "seed", "cfg", "image", "due", "length", "cost", "ok", "picture"])
        sheet.write_row(1, 0, ["two  spaces and\ttab", 9007199254740991, 0.1 + 0.2])
        sheet.write_formula(1, 3, '=HYPERLINK("https://a.example/x.png","see")', None, "see")
        sheet.write(1, 4, 46000.354166666664, as_format("yyyy-mm-dd hh:mm"))
        sheet.write(1, 5, 0.5, as_format("hh:mm:ss"))
        sheet.write(1, 6, 12.5, as_format('#,##0.00 "€"'))
        sheet.write_boolean(1, 7, True, as_format("BOOLEAN"))
        sheet.insert_image(1, 8, "pixel.png", {"image_data": io.BytesIO(PIXEL)})
        sheet.write_comment(1, 0, "a note")
        sheet.write_row(2, 0, ["  first line\n\nlast  line", 6])
        sheet.write_url(2, 3, "https://b.example/y.png", string="pic")
        sheet.write(2, 4, 46000.99999999, as_format("yyyy-mm-dd hh:mm:ss"))
        sheet.insert_textbox(2, 0, "a box over a text")
        sheet.insert_textbox(2, 7, "a box over an empty cell")
        sheet.write_row(3, 0, ["hidden", 7])
        sheet.set_row(3, None, None, {"hidden": True})
        sheet.write_rich_string(4, 0, "a ", book.add_format({"bold": True}), "bold", " fox")
        sheet.write_row(4, 1, [1234567890123456])
        sheet.write_formula(4, 2, "=1/0", None, "#DIV/0!")
        sheet.set_column(2, 2, None, None, {"hidden": True})
        book.add_worksheet("Hidden").write(0, 0, "x")
        book.worksheets()[1].hide()
        book.close()
        subprocess.run(["soffice", "--headless", "--convert-to", "ods", "--outdir", HERE, path], check=True)


with_odfpy()
with_libreoffice()
