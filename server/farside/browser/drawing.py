"""Drawings that the page makes on a canvas out of typed shapes, later ones over earlier ones."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from farside.browser.shapes import Arguments, Image
from farside.tools import tool

Coordinate = Annotated[float, Field(ge=-10_000, le=10_000)]
Point = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
Length = Annotated[float, Field(ge=0, le=10_000)]
Color = Annotated[str, Field(max_length=64, description="A CSS color.")]


class _Shape(Arguments):
    fill: Color | None = Field(default=None, description="The color inside.")
    stroke: Color | None = Field(default=None, description="The color of the outline.")
    stroke_width: float = Field(default=1, gt=0, le=1000)


class Rectangle(_Shape):
    type: Literal["rectangle"]
    x: Coordinate
    y: Coordinate
    width: Length
    height: Length


class Ellipse(_Shape):
    type: Literal["ellipse"]
    x: Coordinate = Field(description="Of the center.")
    y: Coordinate = Field(description="Of the center.")
    radius_x: Length
    radius_y: Length


class Line(_Shape):
    type: Literal["line"]
    points: list[Point] = Field(min_length=2, max_length=1000, description="[[x, y], ...]")
    closed: bool = Field(default=False, description="Whether the last point is joined to the first one.")


class Path(_Shape):
    type: Literal["path"]
    d: str = Field(max_length=10_000, description="As in an SVG path: M 0 0 C 10 10 ...")


class Text(_Shape):
    type: Literal["text"]
    x: Coordinate
    y: Coordinate = Field(description="Of the base line.")
    text: str = Field(max_length=1000)
    size: float = Field(default=16, gt=0, le=1000, description="In pixels.")
    align: Literal["left", "center", "right"] = "left"


Shape = Annotated[Rectangle | Ellipse | Line | Path | Text, Field(discriminator="type")]


class DrawArgs(Arguments):
    width: int = Field(ge=1, le=2048, description="In pixels.")
    height: int = Field(ge=1, le=2048, description="In pixels.")
    background: Color | None = Field(default=None, description="Transparent without one.")
    shapes: list[Shape] = Field(max_length=500, description="Drawn in this order. x grows to the right, y downwards.")


draw = tool(
    name="draw",
    title="Draw",
    description="Draw a picture out of shapes and get it as a PNG image. A shape without fill and stroke is black.",
    args_schema=DrawArgs,
    result_schema=Image,
    timeout=30,
    idempotent=True,
)
