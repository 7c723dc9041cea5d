"""Small films in which espeak-ng speaks given lines."""

import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np

from crosstask.extraction.second import SAMPLE_RATE

ESPEAK_RATE = 22050  # samples a second, of its WAV output
# By language: step names, then what is said at every ten seconds. Steps are said in other words and forms than they are named.
FILMS = {
    "de": (
        ["Zwiebeln schneiden", "Öl in der Pfanne erhitzen", "Eier aufschlagen", "Milch eingießen", "Omelett wenden"],
        [
            "Hallo und willkommen, heute machen wir zusammen ein leckeres Omelett.",
            "Zuerst schneiden wir die Zwiebeln in kleine Würfel.",
            "Dann erhitzen wir etwas Öl in der Pfanne.",
            "Jetzt schlagen wir drei Eier in eine Schüssel auf.",
            "Nun gießen wir ein wenig Milch dazu.",
            "Zum Schluss wenden wir das Omelett vorsichtig.",
            "Vielen Dank fürs Zuschauen und guten Appetit.",
        ],
    ),
    "es": (
        ["cortar la cebolla", "calentar el aceite", "batir los huevos", "añadir la leche", "dar la vuelta a la tortilla"],
        [
            "Hola a todos, hoy vamos a preparar una tortilla muy rica.",
            "Primero cortamos la cebolla en trozos pequeños.",
            "Luego calentamos el aceite en la sartén.",
            "Ahora batimos los huevos en un plato hondo.",
            "Después añadimos un poco de leche.",
            "Al final damos la vuelta a la tortilla con cuidado.",
            "Muchas gracias por ver el video, hasta la próxima.",
        ],
    ),
}
PERIOD_S = 10  # from one line to the next


def voice(text: str, language: str) -> np.ndarray:
    """(n,) samples of a text spoken by espeak-ng."""
    command = ["espeak-ng", "-v", language, "-s", "140", "--stdout", text]
    data = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout[44:]
    samples = np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / 32768
    moments = np.arange(0, len(samples) / ESPEAK_RATE, 1 / SAMPLE_RATE)
    return (0.5 * np.interp(moments, np.arange(len(samples)) / ESPEAK_RATE, samples)).astype(np.float32)


def spoken_wave(lines: list[str], language: str) -> np.ndarray:
    """(n,) samples in which line i starts at 10 i seconds."""
    wave = np.zeros(len(lines) * PERIOD_S * SAMPLE_RATE, np.float32)
    for i, line in enumerate(lines):
        part = voice(line, language)[: PERIOD_S * SAMPLE_RATE]
        wave[i * PERIOD_S * SAMPLE_RATE : i * PERIOD_S * SAMPLE_RATE + len(part)] = part
    return wave


def write_film(path: Path, wave: np.ndarray | None, seconds: int) -> Path:
    """A grey video of so many seconds with this sound, or without any."""
    import av

    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=2)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound = None if wave is None else container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
        for number in range(2 * seconds):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 90, np.uint8), "rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 2)
            container.mux(pictures.encode(frame))
        container.mux(pictures.encode())
        for start in range(0, 0 if wave is None else len(wave), 1024):
            piece = av.AudioFrame.from_ndarray(wave[None, start : start + 1024], "fltp", "mono")
            piece.sample_rate, piece.pts = SAMPLE_RATE, start
            container.mux(sound.encode(piece))
        if sound is not None:
            container.mux(sound.encode())
    return path
