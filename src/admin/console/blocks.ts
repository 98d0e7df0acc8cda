// The parts that pages of the console are made of (README.md). A page says what it shows, views/admin/page.eta
// and its partials say how: so all pages look alike, work without script, and escape in one place.

import type { PageLink, PageText } from '../../base/texts/text.ts';
import type {
  Action,
  Bar,
  Cell,
  CodeText,
  Column,
  DocumentPart,
  Empty,
  EventItem,
  Logo,
  Mark,
  PageFault,
  Result,
  Rule,
  Stage,
  Step,
  TextBlock,
  Tone,
} from './cells.ts';
import type { SuggestionKind } from './suggest.ts';

export type * from './cells.ts';

export interface Option {
  value: string;
  label: PageText;
  /** Of `radios` and `checks`: a second line. */
  hint?: PageText | undefined;
  /** Of `checks`: ticked or not, it stays as it is, and is not sent. */
  isLocked?: boolean;
  /** Of a label that is in another language than the page. */
  language?: string;
}

/** A column of `rows`. */
export interface RowColumn {
  /** Behind the name of the field, with a dot between; empty for the only column. */
  name: string;
  label: PageText;
  type?: 'text' | 'select' | 'textarea';
  options?: readonly Option[];
  isNarrow?: boolean;
  /** What may be typed; anything else may be typed too. */
  suggestions?: readonly string[];
  /** What it suggests while its user types, as that of a text field. */
  suggest?: SuggestionKind;
  /** Below the row, closed until it is opened. Details are the last columns. */
  isDetail?: boolean;
  /** Of a detail. */
  hint?: PageText;
}

export interface Field {
  name: string;
  label: PageText;
  type?:
    | 'text'
    | 'search'
    | 'email'
    | 'number'
    | 'textarea'
    | 'select'
    | 'checkbox'
    | 'checks'
    | 'radios'
    | 'rows'
    | 'hidden'
    | 'file'
    | 'password'
    | 'color'
    | 'date'
    | 'datetime-local';
  /** Of `file`: what may be chosen, and the address of the picture that is stored, on a dark ground where it is for dark mode. */
  accept?: string;
  picture?: { src: string; isDark?: boolean } | undefined;
  /** Of `file`: a picture of a person, up to so many KB, whose part is chosen. */
  cropSize?: number;
  value?: string | number | undefined;
  /** Of `checks`: what is ticked. */
  values?: readonly string[];
  /** Of `checks`: all of them in sight, in two columns where there is room. */
  isWide?: boolean;
  /** Of `checks`: buttons that tick several boxes. They send the form, which comes back, as those of `rows` do (console/row-buttons.ts). */
  buttons?: readonly { value: string; label: PageText; isPressed?: boolean }[];
  checked?: boolean;
  options?: readonly Option[];
  /** Of `select`: its values are numbers. */
  isNumber?: boolean;
  /** Of `rows`: a list with a row for each entry, and buttons that add and remove one (console/row-buttons.ts). */
  columns?: readonly RowColumn[];
  lines?: readonly (readonly string[])[];
  /** Of `rows`: what the button adds, such as `redirect URI`. */
  adds?: PageText;
  /** Of `rows`: what the details of a row are. */
  details?: PageText;
  /** Of `rows`: the row that was just added has the focus; -1: the button. */
  focus?: number;
  hint?: PageText | undefined;
  /** The label is for screen readers only: of a search, whose placeholder says what is searched, and a choice that says it itself. */
  isLabelHidden?: boolean;
  placeholder?: PageText;
  /** Beside the field, such as `minutes`. */
  unit?: PageText;
  /** Of a whole number: what it may be, for the sentence after a fault. */
  range?: { minimum: number; maximum?: number };
  /** Displayed, and not sent: the configuration file (which a tag says) or another field decides. */
  isLocked?: boolean;
  isFromFile?: boolean;
  /** Of `date`: a time on that day, in UTC, can be chosen beside it; the value is `2026-12-31T18:00` then. */
  hasTime?: boolean;
  /** Seldom filled in: closed below the others of its form or filter, as long as it is empty. */
  isSeldom?: boolean;
  /** Beside another field that is half as wide, where there is room. */
  isHalf?: boolean;
  /** An address, an identifier or the like: always from left to right. */
  isCode?: boolean;
  /** A part of the addresses to copy on its page, which follow it as it is typed. */
  isInAddresses?: boolean;
  required?: boolean;
  rows?: number;
  /** Of a text area: the language of its text. */
  language?: string;
  autocomplete?: string;
  /** Of a text field: what it suggests while its user types. It may still hold anything. */
  suggest?: SuggestionKind;
  /** Of a field with suggestions whose value is a name: what it sends as long as the name stays. Without script it sends the name. */
  sends?: string | undefined;
}

/** Of a `file` for a picture: what may be chosen. */
export const ACCEPTED_PICTURES = '.png,.jpg,.jpeg,.svg,image/png,image/jpeg,image/svg+xml';

/** The hidden field with the version that an edit form was made of. */
export const VERSION = 'version';

/** A value that the form sends and nobody types. */
export const hiddenField = (name: string, value: string | number | undefined): Field => ({
  name,
  label: '',
  type: 'hidden',
  value,
});

/** A choice of one value, each with its text. */
export const selectField = (
  name: string,
  label: PageText,
  value: string,
  choices: Readonly<Record<string, PageText>>,
): Field => ({
  name,
  label,
  type: 'select',
  value,
  options: Object.entries(choices).map(([one, text]) => ({ value: one, label: text })),
});

/** Makes a second administrator's change fail instead of overwriting the first one's. */
export const versionField = (version: string): Field => hiddenField(VERSION, version);

/** The filters of a list, or a question: a form that only reads. */
export interface Search {
  title?: PageText;
  action: string;
  /** The form elsewhere on the page that the fields are sent with; then the button has the name `show`. */
  of?: string;
  fields: readonly Field[];
  button?: PageText;
  /** Filters beside the fields: links, or buttons that send the fields too. */
  segments?: readonly ({ label: PageText; count?: PageText; isCurrent: boolean } & (
    | { href: string; button?: never }
    | { href?: never; button: { name: string; value: string } }
  ))[];
  /** Where the question is what the page is for. */
  isPrimary?: boolean;
}

/** The addresses of other pages of a list. */
export interface PageLinks {
  /** On the third page and later ones. */
  first?: string | undefined;
  previous?: string | undefined;
  next?: string | undefined;
}

/** Check boxes before the rows, and a form for the ticked ones. It only reads: the page that it leads to asks. */
export interface Selection {
  action: string;
  /** For each row the value that its box sends as `id`, and its name for screen readers. */
  rows: readonly { id: string; name: string }[];
  /** Every box is ticked. */
  isAll: boolean;
  /** The address of the page with every box ticked, where there is no script. */
  allHref: string;
  fields: readonly Field[];
  button: PageText;
}

/** A part of a long form, in a box of its own. */
export interface FormSection {
  title: PageText;
  lead?: PageText;
  fields: readonly Field[];
  /** Closed until it is opened, or until one of its fields is wrong. */
  isAdvanced?: boolean;
  /** Of an advanced section: the current value in a few words. */
  summary?: PageText;
  /** Displayed only while the radio button of this value is chosen (views/styles/console-parts.css). */
  when?: string;
}

export interface FormBlock {
  kind: 'form';
  /** For a button elsewhere on the page that sends it. */
  id?: string;
  title?: PageText;
  lead?: PageText;
  action: string;
  fields: readonly Field[];
  /** Of a long form: boxes after the one with `fields`, and buttons that stay in sight. */
  sections?: readonly FormSection[];
  /** Without it the form is only displayed. */
  button?: PageText;
  /** At most one button of a page is the primary one. */
  look?: 'primary' | 'secondary' | 'danger';
  /** Where Cancel leads. */
  cancel?: string;
  /** Instead of `Cancel`. */
  cancelLabel?: PageText;
  /** It carries files, or much text. */
  isUpload?: boolean;
  /** Submits itself where there is script: the next step of work that takes several requests. */
  autoSubmit?: boolean;
}

export type Block =
  | TextBlock
  | {
      kind: 'facts';
      title?: PageText;
      lead?: PageText;
      actions?: readonly Action[];
      rows: {
        label: PageText;
        value: Cell;
        /** Beside the value: opens the form that changes it. */
        form?: FormBlock;
        /** The form is open: it came back. */
        isOpen?: boolean;
        /** Beside the value: a button instead. */
        action?: Action | undefined;
      }[];
      /** Until it is opened. */
      isClosed?: boolean;
    }
  | {
      kind: 'table';
      title?: PageText;
      lead?: PageText;
      actions?: readonly Action[];
      /** For screen readers, where it says more than the title of the table or, without one, of the page. */
      caption?: PageText;
      columns: readonly (PageText | Column)[];
      /** A row is one link where its first cell is. On a phone it is a card: the first cell, a tag beside it, and lines. */
      rows: Cell[][];
      /** A sentence where a filter found nothing. Absent: it has rows. */
      empty?: PageText | Empty;
      filter?: Search;
      selection?: Selection | undefined;
      /** How many there are, such as `57 users` or `10,000+ users`. */
      count?: PageText | undefined;
      pages?: PageLinks;
    }
  | ({ kind: 'search' } & Search)
  | FormBlock
  | { kind: 'actions'; title?: PageText; items: readonly Action[] }
  /** What can be done, each with its consequence. Dangerous ones come last on a page. */
  | { kind: 'tasks'; title: PageText; isDanger?: boolean; rows: { title?: PageText; text: PageText; action: Action }[] }
  | { kind: 'steps'; title: PageText; lead?: PageText; actions?: readonly Action[]; steps: readonly Step[] }
  | { kind: 'stages'; title: PageText; lead?: PageText; actions?: readonly Action[]; stages: readonly Stage[] }
  /** The labels of the bars are days, such as 2026-11-23. `badLabel`: what the second part counts; `Failed` by default. */
  | { kind: 'days'; title: PageText; summary: PageText; bars: readonly Bar[]; max: number; badLabel?: PageText }
  | { kind: 'bars'; title: PageText; summary: PageText; bars: readonly Bar[]; max: number; empty: PageText }
  | { kind: 'stats'; items: { label: PageText; value: Cell; href?: string | undefined; tone?: Tone }[] }
  | ({ kind: 'code' } & CodeText)
  /** A secret to copy now: it is stored for an hour, for this session. */
  | {
      kind: 'secret';
      label: PageText;
      copied: PageText;
      text: string;
      lead: PageText;
    }
  | ({ kind: 'result' } & Result)
  /** A page of this server in a frame, without script. `follows`: the form whose fields its address has, as they are typed. */
  | { kind: 'preview'; title: PageText; src: string; lead?: PageText; follows?: string; isTall?: boolean }
  | {
      kind: 'events';
      title?: PageText;
      lead?: PageText;
      /** As of a table. */
      caption?: PageText;
      actions?: readonly Action[];
      items: readonly EventItem[];
      empty?: PageText | Empty;
      filter?: Search;
      pages?: PageLinks;
    }
  | { kind: 'more'; count: PageText; pages: PageLinks }
  /** A chapter of the documentation, and the headings in it. */
  | { kind: 'document'; parts: readonly DocumentPart[]; contents: readonly { href: string; label: string }[] }
  | { kind: 'links'; title: PageText; items: readonly { href: string; label: PageText; isCurrent?: boolean }[] }
  | { kind: 'progress'; label: PageText; hint?: PageText; done: number; total: number }
  | {
      kind: 'tiles';
      title?: PageText;
      /** With a name at lucide.dev, else the logo of a product, else the first letter. */
      items: { title: PageText; text: PageText; href: string; icon?: string; product?: string }[];
    }
  | {
      kind: 'rules';
      title: PageText;
      rules: readonly Rule[];
      /** The label of the second value, beside "Received"; "Registered" by default. */
      expectedLabel?: PageText;
    };

/** The blocks with each form changed, also those beside facts. */
export function withForms(blocks: readonly Block[], change: (form: FormBlock) => FormBlock): Block[] {
  return blocks.map((block) => {
    if (block.kind === 'form') return change(block);
    if (block.kind !== 'facts') return block;
    return { ...block, rows: block.rows.map((row) => (row.form ? { ...row, form: change(row.form) } : row)) };
  });
}

/** Every form of these blocks. */
export const formsOf = ({ blocks, aside = [] }: { blocks: readonly Block[]; aside?: readonly Block[] }): FormBlock[] =>
  [...blocks, ...aside].flatMap((block) => {
    if (block.kind === 'facts') return block.rows.flatMap(({ form = [] }) => form);
    return block.kind === 'form' ? block : [];
  });

/** Every field of a form. */
export const fieldsOf = ({ fields, sections = [] }: FormBlock): Field[] => [
  ...fields,
  ...sections.flatMap((section) => section.fields),
];

/** Fields on other pages that a fault of this one may be about, by the key of the configuration file. */
export type FieldsElsewhere = Readonly<Record<string, { label: PageText; href: string }>>;

export interface ConsolePage {
  title: PageText;
  /** The user has to confirm before the form of the page is carried out (views/partials/confirm.eta). */
  confirm?: object | undefined;
  /** What is asked before the form of the page is carried out. */
  asks?: { title: PageText; form: FormBlock };
  /** One sentence on what the page is for. */
  lead?: PageText;
  /** The initials of what the page is about. */
  logo?: Logo;
  /** The page above. */
  back?: { href: string; label: PageText };
  /** Beside the title. */
  tags?: (Mark & { icon?: string })[];
  /** At most one is primary. */
  actions?: readonly Action[];
  /** Pages of their own. */
  tabs?: readonly { href: string; label: PageText; isCurrent: boolean }[];
  error?: PageText | undefined;
  /** Where the cause of the error is removed. */
  next?: readonly PageLink[];
  faults?: readonly PageFault[];
  /** What a fault of its form may name beside its own fields. */
  elsewhere?: FieldsElsewhere;
  /** Above both columns. */
  above?: readonly Block[];
  blocks: readonly Block[];
  /** A narrow column beside the blocks; below them where there is no room. */
  aside?: readonly Block[];
  /** The column beside is as wide as the blocks. */
  isHalved?: boolean;
}

/** The tabs of a page: each below the path by its name, '' the page itself; those without a label are not there. */
export const tabLinks = <Tab extends string>(
  path: string,
  current: Tab,
  labels: Readonly<Record<Tab, PageText | false>>,
): NonNullable<ConsolePage['tabs']> =>
  Object.entries<PageText | false>(labels).flatMap(([tab, label]) =>
    label === false ? [] : { href: tab === '' ? path : `${path}/${tab}`, label, isCurrent: tab === current },
  );

/** A chart's tallest value, never 0. */
export function maxBarValue(bars: readonly Bar[]): number {
  return Math.max(1, ...bars.map(({ value, bad = 0 }) => value + bad));
}
