import { beforeAll, expect, test } from 'vitest';
import { normalise } from '../../../src/engines/normalise.ts';
import { openPhones } from '../../support/phones.ts';

/** What is written, and its words. Another value has other words. */
const WORDS = `
2*3*4 = two times three times four
5 * 6 = five times six
a*b*c = A times B times C
2**8 = two to the power of eight
2^10 = two to the power of ten
x^2 = X squared
10⁵ = ten to the power of five
10²³ = ten to the power of twenty three
10⁻³ = ten to the power of minus three
x² = X squared
5³ = five cubed
10₂ = ten base two
2+2=4 = two plus two equals four
2 + 3 = 5 = two plus three equals five
9-5=4 = nine minus five equals four
9 - 5 = nine minus five
5 - 9 = five to nine
10/2=5 = ten divided by two equals five
10 / 5 = ten divided by five
8÷4 = eight divided by four
3×4 = three times four
3·7 = three times seven
x + 2 = X plus two
+5 = plus five
-5 = minus five
−7 = minus seven
-.5 = minus zero point five
±3 = plus or minus three
+/-4 = plus or minus four
x <= 5 = X is at most five
x<=6 = X is at most six
x ≤ 7 = X is at most seven
x >= 5 = X is at least five
x ≥ 7 = X is at least seven
≤ 8 = at most eight
>= 9 = at least nine
x < 5 = X is less than five
x > 5 = X is greater than five
5 km > 3 km = five kilometers is greater than three kilometers
-1 < x = minus one is less than X
x > -5 = X is greater than minus five
x != 5 = X is not equal to five
x ≠ 6 = X is not equal to six
x == 5 = X equals five
x += 1 = X plus equals one
<5 = less than five
it is >100 = it is more than one hundred
~50 = about fifty
≈60 = about sixty
6'2" = six foot two
6'2 = six foot two
6′2″ = six foot two
5’11” = five foot eleven
5' 9" = five foot nine
6ft 3in = six foot three
a 27" screen = a twenty seven inches screen
8" = eight inches
10' tall = ten feet tall
62 = sixty two
3'45" = three minutes forty five seconds
40°26'46"N = forty degrees twenty six minutes forty six seconds north
2.1.3 = two point one point three
2.1.30 = two point one point thirty
2.13 = two point one three
21.3 = twenty one point three
v1.10.0 = V one point ten point zero
0.0.1 = zero point zero point one
1.2.3.4.5 = one point two point three point four point five
192.168.0.1 = one hundred ninety two dot one hundred sixty eight dot zero dot one
10.0.0.1 = ten dot zero dot zero dot one
127.0.0.1:8080 = one hundred twenty seven dot zero dot zero dot one port eight thousand eighty
10.0.0.0/8 = ten dot zero dot zero dot zero slash eight
555.123.4567 = five five five one two three four five six seven
1.5M = one point five million
1.5m = one point five meters
5M = five million
10k = ten thousand
10K = ten thousand
1.2K = one point two thousand
2.5B = two point five billion
7B parameters = seven billion parameters
5bn = five billion
3 mln = three million
5m users = five million users
10k+ = ten thousand plus
4K = four K
401k = four oh one K
3M = three M
Room 5M = room five M
Gate 5B = gate five B
$1.2K = one point two thousand dollars
$1.5M = one point five million dollars
$10M = ten million dollars
$3B = three billion dollars
$2T = two trillion dollars
$5 = five dollars
$1 = one dollar
$5.30 = five dollars thirty cents
$5.03 = five dollars three cents
$5.3 = five point three dollars
$0.99 = ninety nine cents
$.50 = fifty cents
$0.01 = one cent
$1,234.56 = one thousand two hundred thirty four dollars fifty six cents
$1.999 = one point nine nine nine dollars
$5.3 million = five point three million dollars
-$6 = minus six dollars
$-7 = minus seven dollars
US$8 = eight U S dollars
A$9 = nine australian dollars
11$ = eleven dollars
$5-10 = five to ten dollars
$5-$20 = five to twenty dollars
$5–$30 = five to thirty dollars
$5/month = five dollars per month
$20/hr = twenty dollars per hour
€5/kg = five euros per kilogram
£3.50 = three pounds fifty
£3.05 = three pounds five
£3.5 = three point five pounds
£350 = three hundred fifty pounds
£1 = one pound
£1.20 = one pound twenty
£0.50 = fifty pence
£5m = five million pounds
£3.5bn = three point five billion pounds
€29.99 = twenty nine euros ninety nine
€1 = one euro
€0.20 = twenty euro cents
12,50 € = twelve euros fifty
€1.234,56 = one thousand two hundred thirty four euros fifty six
€3 million = three million euros
€3k = three thousand euros
20 € = twenty euros
¥1000 = one thousand yen
₹500 = five hundred rupees
5¢ = five cents
1¢ = one cent
#42 = number forty two
#1 = number one
C# = C sharp
F# = F sharp
C++ = C plus plus
2024-12-25 = december twenty fifth twenty twenty four
1999-01-02 = january second nineteen ninety nine
2024/12/26 = december twenty sixth twenty twenty four
31.12.2024 = december thirty first twenty twenty four
12/27/2024 = december twenty seventh twenty twenty four
28/12/2024 = december twenty eighth twenty twenty four
3/4/2024 = three slash four slash twenty twenty four
2024-12-25T10:30 = december twenty fifth twenty twenty four ten thirty
2024-12-25T10:30:00Z = december twenty fifth twenty twenty four ten thirty U T C
2024-12-25 10:31 = december twenty fifth twenty twenty four ten thirty one
10:30 = ten thirty
10:05 = ten oh five
10:00 = ten o'clock
14:00 = fourteen o'clock
9:30am = nine thirty A M
10:00 am = ten A M
5pm = five P M
12:00:30 = twelve o'clock and thirty seconds
1:23:45 = one twenty three and forty five seconds
1:02:03 = one oh two and three seconds
0:05 = zero zero five
00:30 = zero thirty
16:9 = sixteen to nine
3:1 = three to one
1:1000 = one to one thousand
5 km = five kilometers
1 km = one kilometer
0.5 km = zero point five kilometers
5km = five kilometers
3 kg = three kilograms
500mg = five hundred milligrams
20 µg = twenty micrograms
5 g = five grams
5G = five G
16 GB = sixteen gigabytes
512MB = five hundred twelve megabytes
2 TB = two terabytes
64 KiB = sixty four kibibytes
100 Mbps = one hundred megabits per second
10 MB/s = ten megabytes per second
3.2 GHz = three point two gigahertz
50 Hz = fifty hertz
120 km/h = one hundred twenty kilometers per hour
60 mph = sixty miles per hour
10 m/s = ten meters per second
20 m² = twenty square meters
20 m2 = twenty square meters
20 m³ = twenty cubic meters
50 sq ft = fifty square feet
5 ft = five feet
1 ft = one foot
12 in. = twelve inches
3 mi = three miles
10 lbs = ten pounds
8 oz = eight ounces
2 L = two liters
250 ml = two hundred fifty milliliters
5 l/100km = five liters per one hundred kilometers
90 mg/dL = ninety milligrams per deciliter
20°C = twenty degrees celsius
20 °C = twenty degrees celsius
1°C = one degree celsius
68 °F = sixty eight degrees fahrenheit
-5°C = minus five degrees celsius
90° = ninety degrees
5 ms = five milliseconds
5 s = five seconds
15s = fifteen seconds
30 min = thirty minutes
1 min = one minute
2h = two hours
1h30m = one hour thirty minutes
2h 15m = two hours fifteen minutes
5m 20s = five minutes twenty seconds
12V = twelve volts
60 W = sixty watts
5 kWh = five kilowatt hours
3000 mAh = three thousand milliamp hours
2.1 A = two point one amps
30 dB = thirty decibels
72 bpm = seventy two beats per minute
400 ppm = four hundred parts per million
12pt = twelve points
16px = sixteen pixels
5-km run = five kilometer run
1/2 = a half
3/4 = three fourths
½ = a half
2½ = two and a half
⅗ = three fifths
2⅚ = two and five sixths
1⁄3 = one third
5% = five percent
5-10% = five to ten percent
10-20 = ten to twenty
1.5-2.5 = one point five to two point five
1..3 = one to three
2x4 = two by four
1920x1080 = nineteen twenty by one thousand eighty
3 x 5 = three by five
1,234 = one thousand two hundred thirty four
1'234'567 = one million two hundred thirty four thousand five hundred sixty seven
1_000_001 = one million one
1 000 000 = one million
10 000 = ten thousand
12,34,567 = one million two hundred thirty four thousand five hundred sixty seven
０ = zero
１２ = twelve
①② = one two
1e6 = one E six
Salt & pepper = salt and pepper
Salt &amp; vinegar = salt and vinegar
AT&T = A T and T
R&D = R and D
a && b = A and B
Ms. Doe = Miz doe
Ms Doe = Miz doe
Mt. Fuji = mount fuji
Mon. = monday
Tue. = tuesday
Wed. = wednesday
Fri. = friday
Mon., 5 Jan. = monday fifth january
Mon-Fri = monday to friday
Jan. 5 = january fifth
Jan 6 = january sixth
7 Jan 2024 = seventh january twenty twenty four
in Jan. = in january
Feb. = february
Sept. 8 = september eighth
Dec. = december
Mar-May = march to may
approx. 10 = approximately ten
Acme Ltd. = acme limited
Acme Inc. = acme incorporated
Acme Corp. = acme corporation
John Smith Jr. = john smith junior
w/o it = without it
ext. 5 = extension five
URL = U R L
URLs = U R L's
APIs = A P I's
PDFs = P D F's
CPUs = C P U's
IDs = I D's
CEO = C E O
snake_case = snake case
my_function_name = my function name
www.example.org = W W W dot example dot org
example.com = example dot com
https://example.com = https example dot com
http://example.com = http example dot com
https://example.com/docs = https example dot com slash docs
https://my-site.org/x_y = https my dash site dot org slash X underscore Y
https://example.com/?q=1&r=2 = https example dot com slash question mark Q equals one and R equals two
localhost:3000 = localhost port three thousand
jane.roe@example.com = jane dot roe at example dot com
jane-roe@example.com = jane dash roe at example dot com
jane_roe@example.com = jane underscore roe at example dot com
jane+roe@example.com = jane plus roe at example dot com
README.md = readme dot M D
node.js = node dot J S
main.py = main dot pie
index.html = index dot html
`;

const rows = WORDS.trim()
  .split('\n')
  .map((line) => {
    const at = line.lastIndexOf(' = ');
    return [line.slice(0, at), line.slice(at + 3)] as const;
  });

let phones: (text: string) => string;
beforeAll(async () => {
  phones = await openPhones();
});

test.each(rows)('%j is spoken %j.', (written, words) => {
  expect(phones(normalise(written))).toBe(phones(words));
});

/** The same words in another spelling are no other value. */
test('No two values have one sound.', () => {
  const meanings = new Map<string, Set<string>>();
  for (const [written, words] of rows) {
    const sound = phones(normalise(written));
    meanings.set(sound, (meanings.get(sound) ?? new Set()).add(words));
  }
  expect([...meanings.values()].filter((words) => words.size > 1)).toEqual([]);
});
