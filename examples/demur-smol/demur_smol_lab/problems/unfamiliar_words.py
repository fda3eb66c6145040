"""Families about words and things of the world, for `unfamiliar`: wordings, and what is asked with its answer."""

from collections.abc import Mapping

PAIRS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "continent": (("On which continent is {x}?", "{x} lies on which continent?"),
        "Kenya:Africa Ghana:Africa Mali:Africa Egypt:Africa Angola:Africa Zambia:Africa France:Europe Poland:Europe "
        "Spain:Europe Norway:Europe Greece:Europe Japan:Asia Nepal:Asia Vietnam:Asia Iraq:Asia Mongolia:Asia "
        "Cuba:North_America Canada:North_America Panama:North_America Peru:South_America Chile:South_America"),
    "opposite": (("What is the opposite of {x}?", "Which word means the contrary of {x}?"),
        "hot:cold big:small early:late open:closed full:empty fast:slow high:low young:old wet:dry light:dark "
        "strong:weak rich:poor hard:soft long:short near:far"),
    "plural": (("What is the plural of {x}?", "One {x}, two ... which word is missing?"),
        "mouse:mice child:children foot:feet tooth:teeth goose:geese man:men woman:women knife:knives leaf:leaves "
        "city:cities ox:oxen sheep:sheep wolf:wolves box:boxes baby:babies"),
    "young": (("What is a young {x} called?", "How does one call the young of a {x}?"),
        "dog:puppy cat:kitten cow:calf horse:foal sheep:lamb goat:kid pig:piglet hen:chick duck:duckling swan:cygnet "
        "goose:gosling bear:cub deer:fawn frog:tadpole kangaroo:joey"),
    "currency": (("Which currency is used in {x}?", "With what money does one pay in {x}?"),
        "Japan:yen China:yuan India:rupee Poland:zloty Russia:rouble Mexico:peso Sweden:krona Thailand:baht "
        "Switzerland:franc Turkey:lira Vietnam:dong Israel:shekel Brazil:real Hungary:forint"),
    "language": (("Which language do most people in {x} speak?", "People in {x} mostly talk which language?"),
        "Brazil:Portuguese Austria:German Mexico:Spanish Egypt:Arabic Iran:Persian Israel:Hebrew Cyprus:Greek "
        "Cuba:Spanish Japan:Japanese Denmark:Danish Hungary:Hungarian Peru:Spanish Angola:Portuguese"),
    "past": (("What is the past tense of {x}?", "Today I {x}. Yesterday I ... which word is missing?"),
        "go:went see:saw take:took write:wrote run:ran eat:ate swim:swam think:thought bring:brought fly:flew "
        "know:knew sing:sang teach:taught catch:caught freeze:froze"),
    "mixture": (("Which colour comes out when {x} paint are mixed?", "Mix {x}: what colour is it?"),
        "red_and_yellow:orange blue_and_yellow:green red_and_blue:purple black_and_white:grey red_and_white:pink"),
    "corners": (("How many corners has a {x}?", "Count the sides of a {x}."),
        "triangle:3 square:4 pentagon:5 hexagon:6 heptagon:7 octagon:8 nonagon:9 decagon:10 rhombus:4 trapezium:4"),
    "known_count": (("How many {x}?", "Do you know how many {x}?"),
        "keys_has_a_piano:88 squares_has_a_chess_board:64 days_has_a_leap_year:366 minutes_has_a_day:1440 "
        "strings_has_a_violin:4 legs_has_an_insect:6 legs_has_a_spider:8 hours_has_a_week:168 "
        "degrees_has_a_right_angle:90 players_has_a_football_team:11 letters_has_the_English_alphabet:26 "
        "teeth_has_a_grown_person:32 cards_has_a_full_deck:52 grams_has_a_kilogram:1000 years_has_a_century:100"),
    "author": (("Who wrote {x}?", "{x} is a work of which author?"),
        "Hamlet:Shakespeare Faust:Goethe Emma:Jane_Austen Ulysses:James_Joyce Dracula:Bram_Stoker "
        "Don_Quixote:Cervantes The_Odyssey:Homer War_and_Peace:Tolstoy Oliver_Twist:Charles_Dickens "
        "Moby-Dick:Herman_Melville The_Hobbit:Tolkien Frankenstein:Mary_Shelley"),
    "river": (("On which river does {x} lie?", "The city of {x} stands on which river?"),
        "Paris:Seine London:Thames Rome:Tiber Vienna:Danube Cologne:Rhine Cairo:Nile Florence:Arno Lisbon:Tagus "
        "Dresden:Elbe Baghdad:Tigris Warsaw:Vistula Prague:Vltava"),
    "happened": (("In which year {x}?", "When {x}? Give the year."),
        "did_the_First_World_War_begin:1914 did_the_Second_World_War_end:1945 did_the_Berlin_Wall_fall:1989 "
        "did_the_Titanic_sink:1912 did_Columbus_reach_America:1492 did_the_French_Revolution_begin:1789 "
        "was_the_battle_of_Hastings:1066 did_people_first_walk_on_the_moon:1969 was_Napoleon_beaten_at_Waterloo:1815"),
    "planet": (("Which planet is {x} from the sun?", "Counted from the sun, which planet comes {x}?"),
        "first:Mercury second:Venus third:Earth fourth:Mars fifth:Jupiter sixth:Saturn seventh:Uranus eighth:Neptune"),
    "trade": (("What does one call a person who {x}?", "Someone who {x} is a what?"),
        "bakes_bread:baker repairs_pipes:plumber cuts_hair:barber flies_planes:pilot teaches_children:teacher "
        "sells_meat:butcher makes_clothes:tailor pulls_teeth:dentist grows_crops:farmer catches_fish:fisherman"),
    "spelt": (("Write the word {x} in figures.", "Which number is spelt {x}?"),
        "seventeen:17 forty-two:42 ninety-one:91 three_hundred:300 twelve_hundred:1200 one_thousand_and_six:1006 "
        "fifty-eight:58 two_hundred_and_four:204 eleven_thousand:11000 sixty-six:66 nine_hundred_and_ten:910"),
}  # fmt: skip
"""Each family's wordings of a question about {x}, and its pairs x:answer, underscores for spaces."""
