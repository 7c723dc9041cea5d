"""The how-to tasks of the synthetic corpus: 89 titles with their ordered steps, the same under every seed.

The first word of a step is a verb, `PREPOSITIONS` connect, all other words are objects. No word has two of these roles, and no two words share
a stem. Verbs, objects and whole steps recur in other tasks about as often as in the release: a word of a primary step occurs in 17 other
tasks (release 18), 0.52 of the primary and 0.33 of the related steps have a name that another task has too (release 0.53 and 0.33).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError, Task

PREPOSITIONS = frozenset({"into", "in", "to", "on", "from", "with", "over", "around", "onto", "on_top_of"})
N_PRIMARY = 18  # the first tasks of the list; the others are related to them
FIRST_ID = 1001

# Title: steps. An indented line continues the line before it.
STEP_LISTS = """
Make Berry Smoothie: wash berry, peel banana, cut banana, pour milk into blender, add berry, add banana, add honey, stir mixture, pour mixture into
  glass
Bake Muffins: heat oven, heat butter, add egg, stir egg, add flour, add sugar, stir mixture, pour mixture into tin, put muffin in oven, cool muffin
Change Bicycle Tube: remove wheel, loosen valve, put tire, remove tube, put tube, inflate tube, attach wheel
Make Vegetable Omelette: cut pepper, add egg, stir egg, add salt, heat butter in pan, pour egg into pan, add cheese, fold omelette
Repot Houseplant: put soil in pot, remove plant, loosen root, put plant in pot, add soil, press soil, pour water on plant
Paint Bedroom Wall: put sheet on floor, mask_off edge, open can, stir primer, pour primer into tray, roll wall, remove tape
Brew Iced Tea: heat water, pour water into pitcher, add teabag, remove teabag, add sugar, add lemon, add ice, pour mixture into glass
Make Pizza: add yeast to water, add flour, knead dough, rest dough, roll dough, put sauce, add cheese, add topping, put pizza in oven, cut pizza
Change Brake Pads: loosen nut, raise car, remove wheel, remove caliper, remove pad, put pad, attach caliper, attach wheel
Make Hummus: pour chickpea, wash chickpea, peel garlic, add chickpea to blender, add lemon, add tahini, stir mixture, pour oil on_top_of hummus
Build Birdhouse: measure board, cut board, sand board, drill hole, glue_up board, attach roof, attach perch
Replace Car Battery: open hood, loosen clamp, remove battery, clean terminal, put battery, tighten clamp, close hood
Make Tomato Soup: cut onion, cut tomato, heat oil in pot, add onion, add tomato, pour broth into pot, heat soup, stir soup, add cream
Fix Leaking Faucet: close shutoff, remove handle, remove washer, put washer, attach handle, open shutoff
Make Guacamole: cut avocado, stir avocado, cut onion, add onion, add lime, add salt, stir mixture
Plant Tomato Seedlings: dig hole, add compost, put seedling in hole, tie seedling to stake
Make Cold Brew: grind bean, pour bean into jar, pour water into jar, stir mixture, put lid on jar, pour mixture, add ice
Hang Picture Frame: mark wall, put screw, put frame
Make Fruit Salad: wash berry, peel orange, cut orange, cut apple, add apple to bowl, add berry, add lime, add honey, stir mixture
Make Pancake Stack: stir egg, add flour, stir mixture, heat butter in pan, pour mixture into pan, flip pancake, pour syrup on_top_of pancake
Rotate Car Tires: loosen nut, raise car, remove wheel, swap wheel, attach wheel, lower car, tighten nut
Make Fried Rice: wash rice, heat rice, cut onion, heat oil in pan, add egg, add rice, add sauce, stir rice
Build Raised Bed: cut board, drill hole, put screw, put soil in bed, add compost, press soil
Make Hot Chocolate: pour milk into pot, heat milk, add cocoa, add sugar, stir mixture, pour mixture into cup, add marshmallow
Replace Bicycle Chain: remove wheel, remove chain, clean sprocket, measure chain, put pin, pour oil on chain, attach wheel
Make Garlic Bread: heat oven, peel garlic, stir garlic, heat butter, add garlic to butter, cut bread, put butter, put bread in oven
Stain Wooden Table: sand table, clean table, open can, stir stain, add stain to table, clean stain
Wash Car: put water in bucket, add soap, pour water on car, clean car with sponge, dry car
Make Egg Salad: heat water, put egg in pot, cool egg, peel egg, stir egg, add mayonnaise, add salt, stir mixture
Preserve Rhubarb: wash rhubarb, peel rhubarb, cut rhubarb, put rhubarb in jar, heat water, add ginger to jar, add salt, add clove to syrup, label jar,
  cool jar
Bake Carrot Cake: heat oven, put butter in tin, stir carrot mixture, add walnut to carrot, roll dough, put cake in oven, cool cake, stir cream, put
  frosting over cake
Cook Leek Soup: cut leek, cut leek tomato, heat oil in pot, add onion to leek, add potato to leek, heat leek soup, add salt to soup, stir leek soup,
  stir soup, pour soup into bowl, add chive to soup
Fry Chicken: put chicken in soy, heat oil in pan, add garlic, flip chicken, cut pepper, stir broccoli, add sesame to chicken
Mix Mint Drink: wash mint, cut mint, add lemon, pour rum into shaker, add ice to mint, peel mint banana, add soda to mint, pour mixture into mint,
  pour mixture into glass, add straw to glass, add mint to glass
Make Eggplant Dip: peel eggplant garlic, add eggplant to blender, add lime, add salt to eggplant, stir eggplant mixture, add sumac over dip, put dip
  on pita
Replace Car Alternator: open hood, remove battery, raise alternator car, remove wheel from alternator, remove alternator, put alternator, attach belt
  to alternator, attach wheel, lower car, pour spacer into alternator, close hood
Repair Toilet: close shutoff, remove handle, remove flapper from toilet, clean toilet, attach float to pipe, tighten toilet float, clean floor
Build Wooden Bench: cut board, tighten bench clamp, put screw into leg, attach leg to bench, attach slat to bench, open can, attach bench to wall
Grow Strawberry: dig hole, rake strawberry bed, put soil in pot, put runner, press soil, pour water on runner, trim strawberry
Sew Pillow: measure pillow fabric, mark fabric, cut fabric, iron_on zipper, fold fabric, pin_up pillow edge, turn_over pillow, put feather in pillow,
  attach button to pillow, trim pillow string, iron_out pillow
Fix Laptop: remove cable, remove screw from laptop, remove fan from case, clean fan, remove keyboard, put keyboard on laptop, attach keyboard to
  motherboard, clean terminal, plug_in cable, put screw on laptop
Preserve Cucumber: wash cucumber, peel cucumber, cut cucumber, put cucumber in jar, heat water, add sugar, add dill to jar, add salt, label cucumber
  jar, cool jar
Bake Pumpkin Cake: heat butter, add sugar to pumpkin, add flour, add pumpkin to mixture, add nutmeg to pumpkin, roll dough, put cake in oven, cool
  pumpkin cake, stir pumpkin cream, put caramel over cake
Cook Lentil Soup: wash lentil, cut lentil, cut tomato, heat oil in pot, add onion to lentil, add turmeric to pot, add lentil, pour broth into pot, add
  cumin, heat lentil soup
Fry Tofu: cut tofu, stir sauce, add garlic to tofu, flip tofu, cut tofu pepper, add basil, add salt to tofu, add sauce, stir tofu basil, put lid on
  pan, heat rice
Mix Grapefruit Drink: cut grapefruit, add grapefruit to shaker, add sugar to grapefruit, shake grapefruit mixture, add tonic, pour mixture into
  grapefruit, pour mixture into pitcher, pour mixture into glass, add rosemary to glass, add grapefruit to glass
Make Spinach Dip: wash spinach, peel spinach garlic, cut spinach, stir spinach, add ricotta to bowl, add lime to spinach, add cracker, stir mixture,
  cut spinach avocado, add breadcrumb over dip, put dip on cracker
Replace Car Radiator: open hood, remove battery from radiator, remove wheel, remove bracket, loosen radiator bolt, clean hose, tighten bolt, attach
  bracket to radiator, lower radiator car, pour coolant into radiator, start engine
Repair Shower: remove cartridge from shower, pour shower, cut shower pipe, clean shower, put washer on shower, wrap putty around nozzle, tighten
  nozzle, open shutoff, clean floor
Build Wooden Bookcase: measure board, cut board, sand bookcase board, tighten clamp, put screw into shelf, attach cornice to bookcase, clean bookcase,
  open bookcase can
Grow Lavender: dig lavender hole, rake lavender bed, put sprig in hole, pour water on sprig, prune lavender, put gravel around sprig, trim lavender,
  put stake into soil
Sew Apron: measure apron canvas, cut apron canvas, pin_up apron edge, stitch apron edge, attach button, trim string, iron_out apron
Fix Phone: open phone case, remove display from case, clean phone display, remove microphone, put microphone on phone, attach display to phone,
  plug_in cable, close case, put screw on phone
Preserve Beet: wash beet, peel beet, cut beet, put beet in jar, heat water, add vinegar, add sugar, add salt, add horseradish to crock, label beet
  jar, cool jar
Bake Almond Cake: heat almond oven, add egg, add flour, add cherry to almond, put cake in oven, stir cream, add petal to cake
Cook Mushroom Soup: wash mushroom, cut mushroom, cut mushroom onion, cut tomato, heat oil in pot, add onion, add sherry to pot, add mushroom, pour
  broth into pot, add salt to soup, pour soup into bowl
Fry Shrimp: cut shrimp, put shrimp in chili, stir shrimp sauce, add shrimp to pan, cut pepper, add noodle, add salt to shrimp, add sauce, put lid on
  pan, heat rice, put shrimp on rice
Mix Melon Drink: wash melon, cut melon, add lemon, add melon to shaker, pour vodka into shaker, add sugar to melon, add ice, peel banana, add
  grenadine to melon, pour mixture into pitcher, add umbrella to glass
Make Artichoke Dip: wash artichoke, cut artichoke, stir artichoke, add artichoke to blender, add baguette, stir mixture, put dip on baguette
Replace Car Headlight: remove battery, raise car, remove bumper, loosen bolt, remove headlight, clean harness, tighten bolt, attach wheel to
  headlight, lower car, start engine, close headlight hood
Repair Sink: remove handle from sink, clean sink, put washer, wrap silicone around coupling, seal trap with silicone, tighten sink coupling, open
  shutoff, clean floor
Build Wooden Gate: measure board, mark gate board, sand gate board, drill hole in hinge, glue_up gate hinge, put screw into hinge, attach hinge to
  gate, attach picket to gate, sand gate, clean gate, attach gate to wall
Grow Grape: put soil in pot, put vine on grape, press soil, pour water on vine, tie grape to trellis, put bark around vine, spray grape, trim grape,
  put stake into soil
Sew Curtain: measure curtain linen, iron_on ribbon, fold linen, pin_up edge, thread_up needle, stitch curtain edge, stitch ribbon to linen, turn_over
  curtain, put lining in curtain, attach button to curtain, iron_out curtain
Fix Guitar: remove cable, remove screw from guitar, open guitar case, remove pickup from case, blow guitar dust, clean pickup, put jack, put screw,
  test guitar
Preserve Plum: wash plum, peel plum, put plum in jar, add vinegar to plum, add sugar to plum, add vanilla to jar, pour mixture into jar, put lid on
  jar, add cinnamon to kettle, label jar, cool jar
Bake Coconut Cake: heat oven, put butter in tin, stir egg, add sugar to coconut, add flour, stir mixture, roll dough, pour mixture into tin, put cake
  in oven, stir cream, add flake to cake
Cook Barley Soup: wash barley, cut barley, cut tomato, heat oil in pot, add onion, add kale to pot, add barley, add celery to barley, stir barley
  soup, add bacon to soup
Fry Salmon: heat oil in pan, add garlic to salmon, add salmon to pan, flip salmon, add salt to salmon, add sauce, put lid on pan, heat salmon rice,
  put salmon on rice
Mix Peach Drink: add peach to shaker, add sugar to peach, add ice, shake mixture, add brandy to peach, pour mixture into glass, add peach to glass
Make Radish Dip: peel garlic, stir radish, add radish to blender, add feta to bowl, add lime to radish, pour oil into bowl, add toast, add salt, cut
  radish avocado, add oregano over dip
Replace Car Rotor: open rotor hood, raise car, remove sensor from rotor, remove hub, tighten bolt, attach hub to rotor, attach wheel, lower rotor car,
  close rotor hood
Repair Dishwasher: close shutoff, remove handle, remove impeller from dishwasher, clean impeller, clean dishwasher, put washer on dishwasher, attach
  filter to pipe, open shutoff, clean dishwasher floor
Build Wooden Drawer: cut drawer board, drill hole in rail, glue_up drawer rail, tighten drawer clamp, attach felt to drawer, open drawer can, add
  stain to drawer, attach drawer to wall
Grow Rose: dig hole, rake bed, put soil in pot, put bush, put bush in hole, pour water on bush, prune rose, pick rose
Sew Quilt: mark quilt cotton, cut cotton, fold cotton, pin_up edge, stitch quilt edge, stitch batting to cotton, turn_over quilt, put patch in quilt,
  attach button to quilt, trim quilt string, iron_out quilt
Fix Lamp: remove screw from lamp, open lamp case, remove socket from case, blow lamp dust, put switch on lamp, clean terminal, close lamp case, put
  screw on lamp, test lamp
Preserve Cabbage: wash cabbage, peel cabbage, heat water, add vinegar to cabbage, add sugar to cabbage, add caraway to jar, pour mixture into jar
Bake Poppyseed Cake: heat oven, add egg to poppyseed, stir egg, add sugar, add poppyseed to mixture, stir poppyseed mixture, pour mixture into tin,
  cool cake
Cook Squash Soup: cut squash onion, heat oil in pot, add onion to squash, add curry to pot, add squash, pour broth into pot, add salt to soup, stir
  squash soup, pour soup into bowl, add pepita to soup
Fry Beef: cut beef, heat oil in pan, add garlic, flip beef, cut beef pepper, add cauliflower to beef, add sauce, stir cauliflower, put lid on pan,
  heat beef rice, put beef on rice
Mix Mango Drink: wash mango, cut mango, add sugar, peel mango banana, pour mixture into mango, pour mixture into glass, add cardamom to glass
Make Corn Dip: wash corn, peel corn garlic, cut corn, stir corn, add salt, stir corn mixture, cut corn avocado
Replace Car Thermostat: open hood, remove gasket from thermostat, remove housing, loosen bolt, clean thermostat gasket, attach housing to thermostat,
  attach wheel, lower thermostat car, pour antifreeze into thermostat, start thermostat engine, close thermostat hood
Repair Sprinkler: close shutoff, remove diaphragm from sprinkler, cut pipe, clean sprinkler, put washer on sprinkler, wrap teflon around solenoid,
  seal diaphragm with teflon, tighten sprinkler solenoid, attach handle
Build Wooden Ladder: cut ladder board, put screw into rung, attach dowel, attach brace to ladder, sand ladder, add stain to ladder, attach ladder to
  wall
Grow Bamboo: dig hole, add compost to bamboo, put rhizome, put rhizome in hole, press bamboo soil, tie bamboo to barrier, prune bamboo, trim bamboo,
  pick bamboo, put stake into soil
Sew Backpack: mark nylon, cut nylon, iron_on strap, pin_up edge, thread_up needle, stitch backpack edge, stitch strap to nylon, turn_over backpack,
  attach button, trim backpack string
Fix Television: remove cable from television, open television case, remove panel from case, blow dust, clean television panel, plug_in cable, close
  television case, test television
"""


@cache
def all_tasks() -> tuple[Task, ...]:
    """Every task of the list, first the primary, then the related ones.

    >>> all_tasks()[0].steps[-2:]
    ('stir mixture', 'pour mixture into glass')
    """
    lines = [line.split(": ") for line in STEP_LISTS.strip().replace("\n  ", " ").splitlines()]
    return tuple(
        Task(str(FIRST_ID + i), title, tuple(steps.split(", ")), primary=i < N_PRIMARY) for i, (title, steps) in enumerate(lines)
    )


def first_tasks(n_primary: int, n_related: int) -> tuple[Task, ...]:
    """The first primary and the first related tasks of the list."""
    primary = [task for task in all_tasks() if task.primary]
    related = [task for task in all_tasks() if not task.primary]
    if not (1 <= n_primary <= len(primary) and 0 <= n_related <= len(related)):
        raise InputError(
            f"synthetic corpus: {n_primary} primary and {n_related} related tasks; "
            f"expected 1 to {len(primary)} primary and at most {len(related)} related ones"
        )
    return (*primary[:n_primary], *related[:n_related])


def permute_names(tasks: Sequence[Task], rng: np.random.Generator) -> tuple[Task, ...]:
    """The tasks with all their step names permuted across tasks; numbers of steps stay, and no task has a name twice."""
    names = [step for task in tasks for step in task.steps]
    owner = np.repeat(np.arange(len(tasks)), [len(task.steps) for task in tasks])
    permuted = [names[i] for i in rng.permutation(len(names))]
    while repeated := _repeated_positions(permuted, owner):
        for position in repeated:
            other = int(rng.integers(len(permuted)))
            permuted[position], permuted[other] = permuted[other], permuted[position]
    return tuple(
        replace(task, steps=tuple(permuted[i] for i in np.flatnonzero(owner == number))) for number, task in enumerate(tasks)
    )


def _repeated_positions(names: Sequence[str], owner: npt.NDArray[np.int64]) -> list[int]:
    """Positions whose name occurs earlier in the same task."""
    seen: set[tuple[int, str]] = set()
    repeated = []
    for position, key in enumerate(zip(owner.tolist(), names, strict=True)):
        if key in seen:
            repeated.append(position)
        seen.add(key)
    return repeated
