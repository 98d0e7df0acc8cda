// A form of the console that was sent without a fresh sign-in, and the addresses of the pages that wait in the database
// (base/http/stored-pages.ts).
import type { PageText } from '../../base/texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';

/** The path of the page that asks for the sign-in; the value of the form follows. */
export const CONFIRM = '/admin/confirm';
/** The path of the page with a result that holds a new secret; the value of the result follows. */
export const RESULT = '/admin/result';

export interface StoredForm {
  /** What the user is about to do (`StepUpNeeded`). */
  change: PageText;
  /** The path that the form was sent to. */
  path: string;
  /** The page with the filled-in form. */
  page: ConsolePage;
}
