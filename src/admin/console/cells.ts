// What stands in the cells of lists and facts, and the buttons beside them.

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export interface Mark {
  text: string;
  /** A path of this server, or a web address. */
  href?: string | undefined;
  tone?: Tone | undefined;
  code?: boolean | undefined;
  /** A value to copy: what it is, such as `Client ID`, for screen readers. */
  copy?: string | undefined;
  /** A second line, smaller. */
  small?: string | undefined;
  /** Initials before the text. */
  logo?: Logo | undefined;
}

/** The picture of an application, else its first letter; of a person the initials, because a picture is on another server. */
export interface Logo {
  name: string;
  /** A web address, which the policy of the page must allow. */
  picture?: string | undefined;
  isPerson?: boolean;
}
/** A button in a row of a table. */
export interface RowAction {
  action: Action;
}
/** A small chart beside its number. */
export interface Spark {
  /** The oldest first. */
  bars: readonly number[];
  text: string;
}
export type Cell = string | number | Date | null | undefined | Mark | RowAction | Spark | Cell[];

export interface Action {
  label: string;
  /** For screen readers, where several buttons have the same label. */
  of?: string;
  /** A name at lucide.dev. */
  icon?: string;
  href?: string;
  /** Sent as a form; without it a link. */
  post?: string;
  fields?: Record<string, string>;
  look?: 'primary' | 'secondary' | 'danger';
}
