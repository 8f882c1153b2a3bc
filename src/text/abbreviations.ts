import { late } from './late.ts';

/**
 * What a full stop may follow without ending the sentence. Intl.Segmenter (Unicode UAX #29) knows no words, so it
 * ends a sentence at every full stop before a capital letter; these lists mend that. All words are in lower case
 * and without their last full stop.
 */

const words = (list: string): (() => ReadonlySet<string>) => late(() => new Set(list.split(/\s+/u)));

/** Titles and the like: something always follows, so the sentence never ends here. */
export const neverLast = words(
  `dr mr mrs ms mx messrs prof rev hon gen col maj capt cmdr lt sgt cpl pvt adm gov sen rep pres supt mme mlle
   mgr msgr hr frl fr sra srta dra dña ing dipl д-р г-н г-жа проф акад им см ср डॉ श्री
   e.g eg i.e ie cf viz vs approx ca incl z.b d.h bzw vgl evtl ggf sog p.ej p.ex т.е`,
);

/** Only before a number: "No. 5", "p. 7", "Fig. 2", "Jan. 3". */
export const beforeNumber = words(
  `no nos nr núm vol vols fig figs eq eqs sec sect ch chap art bd abb kap tab p pp pg s n v l par ver op стр гл рис
   jan feb mar apr jun jul aug sep sept oct nov dec`,
);

/**
 * Words that may or may not end a sentence: only one of the {@link openers} after them says that they did.
 * Initials ("J.") and letters with full stops between ("U.S.", "a.m.") behave the same way by their form.
 */
export const sometimesLast = words(
  'jr sr inc ltd co corp bros ph.d al st mt ft ave blvd rd dept est assn intl',
);

/** Words that, with a capital letter, almost always begin a sentence and are hardly ever (part of) a name. */
export const openers = words(
  `the a an this that these those he she it we they you i his her its our their my your there here but and or so
   then now when while if as in on at by for from with after before although because however what who why how
   where not no yes once some many most all both each another one two perhaps meanwhile later still yet even let
   der das er sie es wir ich ein eine und aber le les il elle nous vous ils une mais et el los las pero
   он она они оно это мы но и`,
);

/** German and its neighbours write "am 3. Oktober": the number before the full stop is an ordinal after these. */
export const ORDINAL_CONTEXT = /(?:^|\s)(?:am|vom|zum|im|der|das|den|dem|des|bis|seit|ab)\s\d{1,2}\.\s+$/iu;
