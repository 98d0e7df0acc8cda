// The blocks that pages of the console are made of. A page says what it shows, views/admin/page.eta and its partials say how:
// so all pages look alike, work without script, and escape in one place.

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export interface Mark {
  text: string;
  /** A path of this server, or a web address. */
  href?: string | undefined;
  tone?: Tone | undefined;
  code?: boolean | undefined;
  /** A second line, smaller. */
  small?: string | undefined;
}
export type Cell = string | number | Date | null | undefined | Mark | Cell[];

export interface Option {
  value: string;
  label: string;
}

export interface Field {
  name: string;
  label: string;
  type?:
    | 'text'
    | 'search'
    | 'email'
    | 'number'
    | 'textarea'
    | 'select'
    | 'checkbox'
    | 'checks'
    | 'hidden'
    | 'file'
    | 'password'
    | 'date';
  /** Of `file`: what may be chosen. */
  accept?: string;
  value?: string | number | undefined;
  /** Of `checks`: what is ticked. */
  values?: readonly string[];
  checked?: boolean;
  options?: readonly Option[];
  hint?: string | undefined;
  required?: boolean;
  rows?: number;
  autocomplete?: string;
}

/** The hidden field with the version that an edit form was made of. */
export const VERSION = 'version';

/** Makes a second administrator's change fail instead of overwriting the first one's. */
export function versionField(version: string): Field {
  return { name: VERSION, label: '', type: 'hidden', value: version };
}

export interface FormBlock {
  kind: 'form';
  title?: string;
  lead?: string;
  action: string;
  fields: readonly Field[];
  button: string;
  /** At most one button of a page is the primary one. */
  look?: 'primary' | 'secondary' | 'danger';
  /** Where Cancel leads. */
  cancel?: string;
  /** It carries files, or much text. */
  isUpload?: boolean;
  /** Submits itself where there is script: the next step of work that takes several requests. */
  autoSubmit?: boolean;
}

export interface Action {
  label: string;
  /** For screen readers, where several buttons have the same label. */
  of?: string;
  href?: string;
  /** Sent as a form; without it a link. */
  post?: string;
  fields?: Record<string, string>;
  look?: 'primary' | 'secondary' | 'danger';
}

export interface Bar {
  label: string;
  value: number;
  /** Another part of the same bar, in the colour of failures. */
  bad?: number;
  href?: string | undefined;
}

export interface Rule {
  label: string;
  state: 'passed' | 'failed' | 'unknown';
  explanation?: string | undefined;
  received?: string | undefined;
  registered?: string | undefined;
}

export type Block =
  | { kind: 'text'; text: string; tone?: 'lead' | 'small' | 'notice' | 'warning' | 'alert' }
  | { kind: 'facts'; title?: string; rows: { label: string; value: Cell }[] }
  | {
      kind: 'table';
      title?: string;
      caption: string;
      columns: readonly string[];
      rows: Cell[][];
      empty: string;
      /** The next page. */
      next?: string | undefined;
    }
  | { kind: 'search'; action: string; fields: readonly Field[]; button?: string }
  | FormBlock
  | { kind: 'actions'; title?: string; items: readonly Action[] }
  | { kind: 'days'; title: string; summary: string; bars: readonly Bar[]; max: number }
  | { kind: 'bars'; title: string; summary: string; bars: readonly Bar[]; max: number; empty: string }
  | { kind: 'stats'; items: { label: string; value: Cell; href?: string | undefined; tone?: Tone }[] }
  | { kind: 'code'; title?: string; label: string; text: string }
  | { kind: 'progress'; label: string; done: number; total: number }
  | { kind: 'tiles'; title?: string; items: { title: string; text: string; href: string }[] }
  | {
      kind: 'rules';
      title: string;
      rules: readonly Rule[];
      /** The label of the second value, beside "Received"; "Registered" by default. */
      expectedLabel?: string;
    };

export interface ConsolePage {
  title: string;
  /** The page above. */
  back?: { href: string; label: string };
  /** Beside the title. */
  tags?: Mark[];
  actions?: readonly Action[];
  problem?: string | undefined;
  faults?: { field: string; message: string }[];
  blocks: readonly Block[];
}

/** A chart's tallest value, never 0. */
export function maxBarValue(bars: readonly Bar[]): number {
  return Math.max(1, ...bars.map(({ value, bad = 0 }) => value + bad));
}
