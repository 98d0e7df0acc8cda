// How a brand looks to the templates of pages and mails. Without one, they have the name and the mark of Gatehouse.
import type { Token } from './tokens.ts';

export interface BrandLook {
  /** Undefined: Gatehouse. */
  name: string | undefined;
  /** The address of its style sheet. */
  sheet: string | undefined;
  /** The colors of that style sheet, for mails. */
  colors: Record<'light' | 'dark', Partial<Record<Token, string>>> | undefined;
  /** Addresses of its pictures. */
  logo: string | undefined;
  darkLogo: string | undefined;
  /** The name of the logo if mail programs can display it: they know PNG and JPEG. */
  mailLogo: string | undefined;
  icon: string | undefined;
  background: string | undefined;
  links: { kind: 'help' | 'privacy' | 'terms'; href: string }[];
}
