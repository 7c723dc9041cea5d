"""The how-to tasks of the planted world: written out ones, and composed ones of a kind.

The first word of a step is what is done, `PREPOSITIONS` join, all other words are things. No word is both; no two words share a stem.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError, Task
from crosstask.synthetic.random_streams import generator

PREPOSITIONS = frozenset({"into", "in", "to", "on", "from", "with", "over", "around", "onto", "on_top_of"})

# title -> steps. The first 18 are the primary tasks of the largest shape, the others are related to them.
NAMED = """
Make Berry Smoothie: wash berry, peel banana, cut banana, pour milk into blender, add berry, add banana, add honey, blend mixture, pour mixture into glass
Bake Muffins: heat oven, melt butter, crack egg, whisk egg, add flour, add sugar, stir mixture, pour mixture into tin, bake muffin, cool muffin
Change Bicycle Tube: remove wheel, loosen valve, lift tire, pull_out tube, insert tube, inflate tube, attach wheel
Make Vegetable Omelette: cut pepper, crack egg, whisk egg, add salt, melt butter in pan, pour egg into pan, sprinkle cheese, fold omelette
Repot Houseplant: fill pot with soil, pull_out plant, loosen root, put plant in pot, add soil, press soil, water_down plant
Paint Bedroom Wall: cover floor, mask_off edge, open can, stir primer, pour primer into tray, roll wall, peel_off tape
Brew Iced Tea: boil water, pour water into pitcher, add teabag, remove teabag, add sugar, squeeze lemon, add ice, pour mixture into glass
Make Pizza: mix yeast with water, add flour, knead dough, rest dough, roll dough, spread sauce, sprinkle cheese, add topping, bake pizza, cut pizza
Change Brake Pads: loosen nut, raise car, remove wheel, remove caliper, pull_out pad, insert pad, attach caliper, attach wheel
Make Hummus: drain chickpea, wash chickpea, peel garlic, add chickpea to blender, squeeze lemon, add tahini, blend mixture, pour oil on_top_of hummus
Build Birdhouse: measure board, cut board, sand board, drill hole, glue_up board, nail roof, attach perch
Replace Car Battery: open hood, loosen clamp, remove battery, clean terminal, insert battery, tighten clamp, close hood
Make Tomato Soup: cut onion, cut tomato, heat oil in pot, add onion, add tomato, pour broth into pot, boil soup, blend soup, add cream
Fix Leaking Faucet: close shutoff, remove handle, remove washer, insert washer, attach handle, open shutoff
Make Guacamole: cut avocado, mash avocado, cut onion, add onion, squeeze lime, add salt, stir mixture
Plant Tomato Seedlings: dig hole, add compost, put seedling in hole, tie seedling to stake
Make Cold Brew: grind bean, pour bean into jar, pour water into jar, stir mixture, cover jar, strain mixture, add ice
Hang Picture Frame: mark wall, drive screw, hang frame
Make Fruit Salad: wash berry, peel orange, cut orange, cut apple, add apple to bowl, add berry, squeeze lime, add honey, stir mixture
Make Pancake Stack: whisk egg, add flour, stir mixture, melt butter in pan, pour mixture into pan, flip pancake, pour syrup on_top_of pancake
Rotate Car Tires: loosen nut, raise car, remove wheel, swap wheel, attach wheel, lower car, tighten nut
Make Fried Rice: wash rice, boil rice, cut onion, heat oil in pan, crack egg, add egg, add rice, add sauce, stir rice
Build Raised Bed: cut board, drill hole, drive screw, fill bed with soil, add compost, press soil
Make Hot Chocolate: pour milk into pot, heat milk, add cocoa, add sugar, whisk mixture, pour mixture into cup, add marshmallow
Replace Bicycle Chain: remove wheel, remove chain, clean sprocket, measure chain, insert pin, oil_up chain, attach wheel
Make Garlic Bread: heat oven, peel garlic, mash garlic, melt butter, mix garlic with butter, cut bread, spread butter, bake bread
Stain Wooden Table: sand table, wipe table, open can, stir stain, brush stain onto table, wipe stain
Wash Car: fill bucket with water, add soap, wet_down car, wipe car with sponge, rinse car, dry car
Make Egg Salad: boil water, put egg in pot, cool egg, peel egg, mash egg, add mayonnaise, add salt, stir mixture
"""

# Families of related tasks: title, possible steps in their order, and the topics with their own things a, b, c, d.
FAMILIES: Sequence[tuple[str, str, str]] = (
    (
        "Preserve {a}",
        "wash {a}, peel {a}, cut {a}, put {a} in jar, boil water, add vinegar, add sugar, add {b} to jar, add salt, pour mixture into jar, "
        "seal jar, add {c} to {d}, label jar, cool jar",
        "rhubarb ginger clove syrup, cucumber dill mustard brine, beet allspice horseradish crock, plum vanilla cinnamon kettle, "
        "cabbage caraway juniper barrel",
    ),
    (
        "Bake {a} Cake",
        "heat oven, grease tin, melt butter, crack egg, whisk egg, add sugar, add flour, add {a} to mixture, stir mixture, add {b}, roll dough, "
        "pour mixture into tin, bake cake, cool cake, whip cream, spread {c} over cake, decorate cake with {d}",
        "carrot walnut frosting raisin, pumpkin nutmeg caramel pecan, almond cherry marzipan petal, coconut pineapple glaze flake, "
        "poppyseed raspberry jam sprinkles",
    ),
    (
        "Cook {a} Soup",
        "wash {a}, cut {a}, cut onion, cut tomato, heat oil in pot, add onion, add {d} to pot, add {a}, pour broth into pot, add {b}, boil soup, "
        "season soup, stir soup, blend soup, pour soup into bowl, garnish soup with {c}",
        "leek potato chive turnip, lentil cumin parsley turmeric, mushroom thyme crouton sherry, barley celery bacon kale, "
        "squash sage pepita curry",
    ),
    (
        "Fry {a}",
        "cut {a}, marinate {a} in {d}, mix sauce, heat oil in pan, add garlic, add {a} to pan, flip {a}, cut pepper, add {b}, season {a}, "
        "add sauce, stir {b}, cover pan, boil rice, serve {a} on rice, sprinkle {c}",
        "chicken broccoli sesame soy, tofu basil peanut miso, shrimp noodle cilantro chili, salmon asparagus caper lemongrass, "
        "beef cauliflower scallion marinade",
    ),
    (
        "Mix {a} Drink",
        "wash {a}, cut {a}, squeeze lemon, add {a} to shaker, pour {b} into shaker, add sugar, add ice, shake mixture, peel banana, add {d}, "
        "strain mixture, pour mixture into pitcher, pour mixture into glass, add {c} to glass, garnish glass with {a}",
        "mint rum straw soda, grapefruit gin rosemary tonic, melon vodka umbrella grenadine, peach wine skewer brandy, "
        "mango yogurt cardamom saffron",
    ),
    (
        "Make {a} Dip",
        "wash {a}, drain {a}, peel garlic, cut {a}, mash {a}, add {a} to blender, add {b} to bowl, squeeze lime, pour oil into bowl, add {d}, "
        "add salt, blend mixture, cut avocado, stir mixture, sprinkle {c} over dip, spread dip on {d}",
        "eggplant pomegranate sumac pita, spinach ricotta breadcrumb cracker, artichoke parmesan paprika baguette, radish feta oregano toast, "
        "corn jalapeno tortilla chip",
    ),
    (
        "Replace Car {a}",
        "open hood, remove battery, raise car, remove wheel, unplug {b} from {a}, remove {c}, loosen bolt, pull_out {a}, clean {b}, insert {a}, "
        "tighten bolt, attach {c} to {a}, attach wheel, lower car, pour {d} into {a}, start engine, close hood",
        "alternator connector belt spacer, radiator hose bracket coolant, headlight harness bumper bulb, rotor sensor hub grease, "
        "thermostat gasket housing antifreeze",
    ),
    (
        "Repair {a}",
        "close shutoff, remove handle, remove {b} from {a}, drain {a}, scrub {b}, cut pipe, clean {a}, insert washer, attach {c} to pipe, "
        "wrap {d} around {c}, seal {b} with {d}, tighten {c}, attach handle, open shutoff, wipe floor",
        "toilet flapper float sealant, shower cartridge nozzle putty, sink trap coupling silicone, dishwasher impeller filter adhesive, "
        "sprinkler diaphragm solenoid teflon",
    ),
    (
        "Build Wooden {a}",
        "measure board, mark board, cut board, sand board, drill hole in {b}, glue_up {b}, tighten clamp, drive screw into {b}, attach {b} to {a}, "
        "attach {c}, nail {d} to {a}, sand {a}, wipe {a}, open can, brush stain onto {a}, attach {a} to wall",
        "bench leg armrest slat, bookcase shelf plywood cornice, gate hinge latch picket, drawer rail knob felt, ladder rung dowel brace",
    ),
    (
        "Grow {a}",
        "dig hole, rake bed, fill pot with soil, add compost, plant_out {b}, put {b} in hole, press soil, water_down {b}, tie {a} to {c}, "
        "prune {a}, spread {d} around {b}, spray {a}, trim {a}, pick {a}, drive stake into soil",
        "strawberry runner netting hay, lavender sprig trowel gravel, grape vine trellis bark, rose bush arch manure, bamboo rhizome barrier mulch",
    ),
    (
        "Sew {a}",
        "measure {b}, mark {b}, cut {b}, iron_on {c}, fold {b}, pin_up edge, thread_up needle, stitch edge, stitch {c} to {b}, turn_over {a}, "
        "stuff {a} with {d}, attach button, trim string, iron_out {a}",
        "pillow fabric zipper feather, apron canvas pocket buckle, curtain linen ribbon lining, quilt cotton batting patch, "
        "backpack nylon strap foam",
    ),
    (
        "Fix {a}",
        "unplug cable, remove screw, open case, remove {b} from case, blow dust, wipe {b}, desolder {c}, insert {c}, solder {c} to {d}, attach {b}, "
        "clean terminal, plug_in cable, close case, drive screw, test {a}",
        "laptop fan keyboard motherboard, phone display microphone ribbon, guitar pickup jack wire, lamp socket switch lead, "
        "television panel capacitor circuit",
    ),
)
N_NAMED_PRIMARY = 18


@cache
def catalogue() -> tuple[Task, ...]:
    """All tasks of the planted world: 18 primary, then the related ones; the same under every seed.

    >>> catalogue()[0].steps[3]
    'pour milk into blender'
    """
    written = [tuple(line.split(": ")) for line in NAMED.strip().splitlines()]
    lists = [(title, tuple(steps.split(", "))) for title, steps in written]
    composed = [_compose(family, number) for number in range(5) for family in FAMILIES]
    return tuple(
        Task(str(1001 + i), title, steps, primary=i < N_NAMED_PRIMARY) for i, (title, steps) in enumerate(lists + composed)
    )


def _compose(family: tuple[str, str, str], number: int) -> tuple[str, tuple[str, ...]]:
    """Title and steps of a family's topic: some of the family's steps, in order, with the topic's things."""
    pattern, steps, topics = family
    a, b, c, d = topics.split(", ")[number].split()
    slots = steps.split(", ")
    rng = generator(0, "composed task", pattern, a)
    n_steps = min(len(slots), int(rng.integers(7, 12)))
    kept = sorted(rng.choice(len(slots), size=n_steps, replace=False))
    return pattern.format(a=a.title()), tuple(slots[i].format(a=a, b=b, c=c, d=d) for i in kept)


def tasks_of_shape(n_primary: int, n_related: int, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The first primary and the first related of some tasks."""
    primary = [task for task in tasks if task.primary]
    related = [task for task in tasks if not task.primary]
    if not (1 <= n_primary <= len(primary) and 0 <= n_related <= len(related)):
        raise InputError(
            f"planted corpus: {n_primary} primary and {n_related} related tasks; expected 1 to {len(primary)} and at most {len(related)}"
        )
    return (*primary[:n_primary], *related[:n_related])


def permute_names(tasks: Sequence[Task], rng: np.random.Generator) -> tuple[Task, ...]:
    """The tasks with all step names dealt anew over all places: the same names, words and numbers of steps, but no sense.

    No task gets a name twice, and a name stays where it was only by chance.
    """
    names = [step for task in tasks for step in task.steps]
    owner = np.repeat(np.arange(len(tasks)), [len(task.steps) for task in tasks])
    dealt = [names[i] for i in rng.permutation(len(names))]
    while repeated := _repeated_places(dealt, owner):
        for place in repeated:
            other = int(rng.integers(len(dealt)))
            dealt[place], dealt[other] = dealt[other], dealt[place]
    return tuple(
        replace(task, steps=tuple(dealt[i] for i in np.flatnonzero(owner == number))) for number, task in enumerate(tasks)
    )


def _repeated_places(names: Sequence[str], owner: npt.NDArray[np.int64]) -> list[int]:
    """Places whose name stands in the same task before."""
    seen: set[tuple[int, str]] = set()
    repeated = []
    for place, key in enumerate(zip(owner.tolist(), names, strict=True)):
        if key in seen:
            repeated.append(place)
        seen.add(key)
    return repeated
