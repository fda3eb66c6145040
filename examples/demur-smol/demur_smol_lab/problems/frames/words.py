"""People, things and places for stories."""

NAMES = (
    "Anna", "Ben", "Carla", "David", "Ella", "Femi", "Grace", "Hugo", "Ines", "Jun", "Kofi", "Lena", "Mara",
    "Omar", "Priya", "Quentin", "Rosa", "Samir", "Tara", "Uwe", "Vera", "Wim", "Xenia", "Yusuf", "Zoe", "Aiko",
    "Boris", "Chen", "Dara", "Emil", "Fatima", "Goran", "Hana", "Ivan", "Jamal", "Kaya", "Liam", "Mei", "Noor",
    "Oscar", "Paula", "Rafi", "Sofia", "Tomas", "Ulla", "Viktor", "Wanda", "Yara", "Zeno", "Amir", "Bella",
    "Cyrus", "Diana", "Eli", "Flora", "George", "Helen", "Igor", "Julia", "Karim", "Lucy", "Marco", "Nadia",
    "Otto", "Petra", "Ravi", "Sara", "Theo", "Uma", "Vince", "Willow", "Yan", "Zara", "Alice", "Bob", "Maria",
    "John", "Emma", "Noah", "Olivia", "James", "Mia", "Lucas",
)  # fmt: skip

THINGS = (
    "apples", "books", "coins", "pencils", "stamps", "cards", "shells", "eggs", "marbles", "stickers",
    "tickets", "oranges", "bottles", "chairs", "candles", "buttons", "flowers", "cookies", "balloons",
    "letters", "bricks", "lemons", "pears", "plums", "nails", "screws", "cups", "plates", "spoons", "forks",
    "towels", "socks", "shirts", "hats", "rings", "beads", "magnets", "toys", "puzzles", "kites", "boats",
    "trucks", "wheels", "keys", "lamps", "pillows", "blankets", "ropes", "baskets", "sandwiches", "muffins",
    "carrots", "potatoes", "onions", "tomatoes", "melons", "grapes", "nuts", "biscuits", "pancakes", "pens",
    "erasers", "rulers", "notebooks", "folders", "postcards", "photos", "badges", "medals", "tokens", "dice",
    "seeds", "bulbs", "branches", "stones", "feathers", "leaves", "bananas", "mangoes", "cherries",
    "chocolates", "candies", "crayons", "robots", "dolls",
)  # fmt: skip

PLACES = ("box", "basket", "drawer", "bag", "room", "shop", "garden", "jar", "tin", "cupboard", "crate", "tray", "shed")

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
