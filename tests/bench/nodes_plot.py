# SPDX-License-Identifier: Apache-2.0
"""Draws the cost of nodes and Pods against the number of nodes.

    nodes_plot.py [--label NAME]... OUT.svg SUMMARY.csv...

Each SUMMARY.csv is a result of nodes_bench.py. Results with the same label are one series, ordered by their number of
nodes; labels are assigned in the order of the files, and the last one is used for the rest.
"""

import argparse
import csv
import math
from xml.sax.saxutils import escape

# Each panel: title, unit, and its curves (name, columns whose sum is drawn).
PANELS = [
    ("CPU of an idle node", "ms per node and second", [
        ("control plane", ["cpu_ms_per_node_s_control"]), ("etcd", ["cpu_ms_per_node_s_etcd"])]),
    ("CPU of a Pod change", "ms per created or deleted Pod", [
        ("control plane", ["cpu_ms_per_change_control"]), ("etcd", ["cpu_ms_per_change_etcd"])]),
    ("Memory of a node", "KiB, control plane", [("control plane", ["rss_kb_per_node_control"])]),
    ("Memory of a Pod", "KiB, control plane", [("control plane", ["rss_kb_per_pod_control"])]),
]
COLORS = ["#1f6fb4", "#d9772b", "#2f8f4e", "#8a4fa3", "#b03a48", "#5f6b76"]
DASHES = ["", "6 3"]  # by curve of a panel; colours are by series
WIDTH, HEIGHT = 460, 300  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 64, 18, 46, 48
FONT = "font-family=\"Helvetica, Arial, sans-serif\""
INK, GRID, FAINT = "#222222", "#e3e6e9", "#667079"


def nice_ticks(most, count=5):
    """Returns ticks from 0 to at least `most`, with steps of 1, 2, 2.5 or 5 times a power of ten."""
    if most <= 0:
        return [0, 1]
    rough = most / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    return [step * i for i in range(math.ceil(most / step - 1e-9) + 1)]


def number(value):
    return f"{value:,.10g}" if value < 1e6 else f"{value:.3g}"


def text(x, y, content, size=11, anchor="middle", color=INK, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" {FONT} {extra}>{escape(content)}</text>'


def line(x1, y1, x2, y2, color, width=1, extra=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}" {extra}/>'


def points_of(rows, columns):
    """Returns [(nodes, value)] of the rows that have the columns, sorted."""
    found = [(float(row["nodes"]), sum(float(row[column]) for column in columns))
             for row in rows if all(row.get(column) for column in columns)]
    return sorted(found)


class Panel:
    """One diagram with linear axes that begin at 0."""

    def __init__(self, left, top, title, unit):
        self._x0, self._y0 = left + LEFT, top + TOP
        self._x1, self._y1 = left + WIDTH - RIGHT, top + HEIGHT - BOTTOM
        self._title, self._unit, self._curves = title, unit, []

    def add(self, label, points, color, dash):
        if points:
            self._curves.append((label, points, color, dash))

    def draw(self):
        out = [text(self._x0, self._y0 - 26, self._title, 14, "start", extra='font-weight="bold"'),
               text(self._x0, self._y0 - 10, self._unit, 11, "start", FAINT)]
        if not self._curves:
            return out + [text((self._x0 + self._x1) / 2, (self._y0 + self._y1) / 2, "no data", 12, color=FAINT)]
        every = [point for _, points, _, _ in self._curves for point in points]
        xs, ys = nice_ticks(max(x for x, _ in every)), nice_ticks(max(y for _, y in every))

        def to_x(value):
            return self._x0 + (self._x1 - self._x0) * value / xs[-1]

        def to_y(value):
            return self._y1 - (self._y1 - self._y0) * max(value, 0) / ys[-1]

        for y in ys:
            out += [line(self._x0, to_y(y), self._x1, to_y(y), GRID), text(self._x0 - 8, to_y(y) + 4, number(y), anchor="end")]
        for x in xs:
            out += [line(to_x(x), self._y1, to_x(x), self._y1 + 4, INK), text(to_x(x), self._y1 + 18, number(x))]
        out += [line(self._x0, self._y1, self._x1, self._y1, INK), line(self._x0, self._y0, self._x0, self._y1, INK),
                text((self._x0 + self._x1) / 2, self._y1 + 36, "nodes", 11, color=FAINT)]
        for label, points, color, dash in self._curves:
            path = " ".join(f"{to_x(x):.1f},{to_y(y):.1f}" for x, y in points)
            out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2" stroke-linejoin="round"'
                       + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
            out += [f'<circle cx="{to_x(x):.1f}" cy="{to_y(y):.1f}" r="3" fill="{color}"><title>'
                    f"{escape(label)}: {number(x)} nodes, {number(round(y, 3))}</title></circle>" for x, y in points]
        return out


def draw(series):
    """`series`: {label: rows}. Returns the SVG document."""
    columns, rows = 2, (len(PANELS) + 1) // 2
    legend = {}
    out = []
    for index, (title, unit, curves) in enumerate(PANELS):
        panel = Panel(index % columns * WIDTH, index // columns * HEIGHT, title, unit)
        for color, (label, table) in zip(COLORS * len(series), series.items()):
            for dash, (curve, names) in zip(DASHES, curves):
                name = f"{label}, {curve}" if label else curve
                legend[name] = (color, dash)
                panel.add(name, points_of(table, names), color, dash)
        out += panel.draw()
    width, height = columns * WIDTH, rows * HEIGHT + 22 * ((len(legend) + 2) // 3) + 14
    for index, (name, (color, dash)) in enumerate(legend.items()):
        x, y = LEFT + index % 3 * 270, rows * HEIGHT + 14 + index // 3 * 22
        out += [line(x, y - 4, x + 28, y - 4, color, 2, f'stroke-dasharray="{dash}"' if dash else ""),
                text(x + 36, y, name, 12, "start")]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(out) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--label", action="append", default=[], help="label of the next file")
    parser.add_argument("out")
    parser.add_argument("summaries", nargs="+")
    options = parser.parse_args()
    labels = options.label or [""]
    series = {}
    for index, path in enumerate(options.summaries):
        with open(path, newline="", encoding="utf-8") as file:
            series.setdefault(labels[min(index, len(labels) - 1)], []).extend(csv.DictReader(file))
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(draw(series))


if __name__ == "__main__":
    main()
