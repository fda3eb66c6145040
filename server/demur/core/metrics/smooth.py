"""Smooth calibration error and the smooth reliability curve (arXiv:2309.12236), on grid counts.

The residuals p - v are smoothed with a Gaussian reflected at 0 and 1; the error is the mean of their size under the
equally smoothed density. Its bandwidth is the fixed point where it equals the error itself. The grid, the mesh and the
bisection are those of the authors' package `relplot`, so that both give the same number. Rounding the rows to the grid
costs one pass for each grid size; what follows does not depend on how many rows there are, and runs on a whole batch
of resamples at once.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from demur.core.metrics.rows import Floats
from demur.core.metrics.tally import Tally

Spectrum = NDArray[np.complex128]

SMALLEST_WIDTH = 1e-3
BISECTIONS = 10
ERROR_MESH = 200
FLOOR = 1e-4
"""Added to the smoothed count, so that an empty stretch divides by something."""

FINE = 128_000
"""Cells that more levels than this are first rounded to. The grids of all but a few bandwidths are coarser copies of
it, so that nothing changes; for the others the error moves by less than FINE**-2 / 8 / width**2, under 1e-6."""


def smece(t: Tally) -> Floats:
    """Smooth expected calibration error (smECE), (...), in [0, 1]; NaN where no row has a confidence."""
    return smece_and_width(t)[0]


def smece_and_width(t: Tally) -> tuple[Floats, Floats]:
    """The smooth calibration error, and the bandwidth of the kernel it was found at, both (...).

    The error is NaN where no row has a confidence; the bandwidth, in units of confidence, then means nothing.
    """
    batch = _Batch.of(t)
    low, width = np.zeros(batch.size), np.ones(batch.size)
    for _ in range(BISECTIONS):
        middle = (low + width) / 2
        below = (middle < SMALLEST_WIDTH) | (middle < batch.errors(middle))
        low, width = np.where(below, middle, low), np.where(below, width, middle)
    shape = t.right.shape[:-1]
    error = np.where(t.read.reshape(-1) > 0, batch.errors(width), np.nan)
    return error.reshape(shape), width.reshape(shape)


def smooth_curve(t: Tally, width: float, points: Floats) -> tuple[Floats, Floats]:
    """Kernel regression of the verdict on the confidence: accuracy and density at `points`, both (..., len(points)).

    The accuracy is NaN where less than one row's worth of weight lies under the kernel: there is nothing to say there.
    The density integrates to one over [0, 1].
    """
    batch = _Batch.of(t)
    residual, count = batch.smooth(width, points, np.arange(batch.size))
    shape = (*t.right.shape[:-1], len(points))
    accuracy = points - residual / (count + FLOOR)
    accuracy[count * width * np.sqrt(2 * np.pi) < 1] = np.nan
    density = count / np.maximum(t.read.reshape(-1, 1), 1)
    return np.clip(accuracy, 0, 1).reshape(shape), density.reshape(shape)


@dataclass(slots=True)
class _Batch:
    """Residuals and counts per level, each (size, L), and their spectra on the grids asked for so far."""

    level: Floats
    residual: Floats
    count: Floats
    spectra: dict[int, tuple[Spectrum, Spectrum]] = field(default_factory=dict[int, tuple[Spectrum, Spectrum]])

    @classmethod
    def of(cls, t: Tally) -> "_Batch":
        level, count = t.level, t.count.reshape(-1, len(t.level))
        residual = count * level - t.right.reshape(count.shape)
        if len(level) > FINE:
            residual, count = (_round_to_grid(level, part, FINE + 1) for part in (residual, count))
            level = np.arange(FINE + 1) / FINE
        return cls(level, residual, count)

    @property
    def size(self) -> int:
        return len(self.count)

    def errors(self, widths: Floats) -> Floats:
        """The calibration error of each member of the batch at its own bandwidth, (size,)."""
        out = np.empty(self.size)
        for width in np.unique(widths):
            members = np.flatnonzero(widths == width)
            mesh = np.linspace(0, 1, max(round(10 / width), ERROR_MESH))
            residual, count = self.smooth(float(width), mesh, members)
            out[members] = np.abs(residual).sum(axis=-1) / (count + FLOOR).sum(axis=-1)
        return out

    def smooth(self, width: float, points: Floats, members: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Residuals and counts of some members under the kernel, both (members, points)."""
        size = max(2000, round(20 / width)) // 2 + 1
        if size not in self.spectra:
            grids = [_round_to_grid(self.level, part, size) for part in (self.residual, self.count)]
            self.spectra[size] = _spectrum(grids[0]), _spectrum(grids[1])
        kernel = np.fft.rfft(_kernel(width, size))
        parts = [np.fft.irfft(part[members] * kernel, 2 * (size - 1))[:, :size] for part in self.spectra[size]]
        return _interpolate(points, parts[0]), _interpolate(points, parts[1])


def _round_to_grid(level: Floats, values: Floats, size: int) -> Floats:
    """Share each value between the two grid points beside its level. `level` ascends; values are (batch, L)."""
    grid = np.zeros((len(values), size))
    if not len(level):
        return grid
    position = level * (size - 1)
    left = np.minimum(position.astype(np.int64), size - 2)
    share = position - left
    start = np.flatnonzero(np.r_[True, left[1:] != left[:-1]])
    whole = np.add.reduceat(values, start, axis=-1)
    moved = np.add.reduceat(values * share, start, axis=-1)
    grid[:, left[start]] += whole - moved
    grid[:, left[start] + 1] += moved
    return grid


def _spectrum(grid: Floats) -> Spectrum:
    """Fourier transform of the grid mirrored at both ends, which makes it periodic: reflection without padding."""
    return np.fft.rfft(np.concatenate([grid, grid[:, -2:0:-1]], axis=-1))


def _kernel(width: float, size: int) -> Floats:
    """The Gaussian over one period, cut at half the unit interval either side.

    With an even number of points it sits half a cell to the left, as in relplot.
    """
    offset = np.linspace(-0.5, 0.5, size)
    period = np.zeros(2 * (size - 1))
    period[np.arange(size) - size // 2] = np.exp(-(offset**2) / (2 * width**2))
    return period / (np.sqrt(2 * np.pi) * width)


def _interpolate(points: Floats, grid: Floats) -> Floats:
    position = points * (grid.shape[-1] - 1)
    left = np.minimum(position.astype(np.int64), grid.shape[-1] - 2)
    share = position - left
    return grid[..., left] * (1 - share) + grid[..., left + 1] * share
