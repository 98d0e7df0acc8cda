// The smaller parts of a page: what stands in the cells of lists and facts, buttons, events, checks, answers and faults.

import type { PageLink, PageText } from '../../base/texts/text.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export interface Mark {
  text: PageText;
  /** Its language, if it is another one than that of the page. */
  language?: string;
  /** A path of this server, or a web address. */
  href?: string | undefined;
  tone?: Tone | undefined;
  code?: boolean | undefined;
  /** A value to copy: what it is, such as `Client ID`, for screen readers. */
  copy?: PageText | undefined;
  /** A second line, smaller. */
  small?: PageText | undefined;
  /** Before the text. */
  logo?: Logo | undefined;
}

/** The picture of an application, else the logo of its product, else its first letter; of a person the picture, else the initials; an icon. */
export interface Logo {
  name: string;
  /** Its address on this server. */
  picture?: string | undefined;
  /** The preset of an application, or the `logo` of a connection. */
  product?: string | undefined;
  isPerson?: boolean;
  /** A name at lucide.dev: of something else. */
  icon?: string;
}
/** A small chart beside its number. */
export interface Spark {
  /** The oldest first. */
  bars: readonly number[];
  text: PageText;
}
export interface Bar {
  label: PageText;
  value: number;
  /** Another part of the same bar, in the color of failures. */
  bad?: number;
  href?: string | undefined;
}

/** An action is a small button. */
export type Cell = PageText | number | Date | null | undefined | Mark | Action | Spark | Cell[];

export interface Action {
  label: PageText;
  /** For screen readers, where several buttons have the same label. */
  of?: PageText;
  /** A name at lucide.dev. */
  icon?: string;
  href?: string;
  /** Sent as a form; without it a link. */
  post?: string;
  fields?: Record<string, string>;
  look?: 'primary' | 'secondary' | 'danger';
  /** Why it is not possible now, and when it is: the button is disabled, and this stands below it. */
  obstacle?: PageText | undefined;
  /** Of a link: what this page displays stays open. */
  isNewTab?: boolean;
}

/** One event in a sentence. */
export interface EventItem {
  at: Date;
  /** A name at lucide.dev. */
  icon: string;
  tone?: 'good' | 'bad' | undefined;
  /** With a slot for each link. */
  sentence: PageText;
  /** Where it came from, such as `Firefox on Linux · 192.0.2.1`. */
  place: PageText;
  /** The raw event, for developers; closed until it is opened. */
  details: { label: PageText; value: Cell }[];
}

/** The answer to a question, and each cause with what can be done. */
export interface Result {
  isGood: boolean;
  /** Neither: it worked, but not as it should. */
  isWarning?: boolean;
  title: PageText;
  /** A sentence where there is no cause. */
  text?: PageText;
  causes: { text: PageText; actions: readonly Action[]; note?: PageText | undefined }[];
}

export interface Rule {
  label: PageText;
  /** `later`: at the next sign-in. `skipped`: it does not apply. `unknown`: an earlier one failed. */
  state: 'passed' | 'failed' | 'warning' | 'later' | 'skipped' | 'unknown';
  explanation?: PageText | undefined;
  received?: PageText | undefined;
  registered?: PageText | undefined;
}

/** One of several states that follow each other, and what is in it. */
export interface Stage {
  title: PageText;
  tone: Tone;
  items: readonly { name: { text: PageText; small: PageText }; rows: readonly { label: PageText; value: Cell }[] }[];
  /** Where there is nothing. */
  empty: PageText;
}

/** Instead of the rows of a list: what the page is for, and how to begin. */
export interface Empty {
  icon: string;
  title: PageText;
  text: PageText;
  action?: Action | undefined;
}

/** A sentence or more. */
export interface TextBlock {
  kind: 'text';
  text: PageText;
  tone?: 'small' | 'notice' | 'warning' | 'alert';
  /** Of a notice: a button that sends the form of the page with this `id`. */
  sends?: { form: string; button: PageText };
  /** Of a notice: what to do about it. */
  link?: { label: PageText; href: string };
}

/** Of a list. */
export interface Column {
  label: PageText;
  /** Aligned at the end. */
  isNumber?: boolean;
  /** Its few words stay on one line. */
  isShort?: boolean;
  /** Left out of the cards on phones, and in narrow windows. */
  isMinor?: boolean;
  /** The rows can be sorted by it: the address of the list in that order, and the present order if it is sorted by it. */
  sort?: { href: string; order?: 'ascending' | 'descending' | undefined };
}

/** A part of a checklist. */
export interface Step {
  title: PageText;
  /** What to do; left out when it is done. */
  text: PageText;
  isDone: boolean;
  /** When it was done. */
  doneAt?: Date;
  action?: Action;
  /** Another way, behind the text. */
  link?: PageLink;
}

/** A fault on a page: `field` is the name of a field there, if there is one. */
export interface PageFault {
  field: string | undefined;
  /** Of a field with rows: the position of the row. */
  row?: number | undefined;
  /** Of a row: the position of the input. */
  column?: number | undefined;
  /** A sentence. */
  message: PageText;
  /** Its language, if it is another one than that of the page. */
  language?: string;
  /** Without `field`: the page that has the field. */
  href?: string | undefined;
}

/** Text to copy. */
export interface CodeText {
  title?: PageText;
  lead?: PageText;
  /** For screen readers. */
  label: PageText;
  text: PageText;
  /** Until it is opened. */
  isClosed?: boolean;
  /** Its language, if it is another one than that of the page, and the direction of that. */
  written?: { language: string; direction: 'ltr' | 'rtl' };
}

/** Of the documentation: HTML of the build; code to copy; or a picture, by its names in dist/assets. */
export type DocumentPart =
  | { html: string }
  | { code: string; language: string }
  | { light: string; dark: string; alt: string; width: string };
