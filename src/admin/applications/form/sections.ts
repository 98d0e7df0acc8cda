// A part of a tab: keys of the declaration that belong together.

import type { PageText } from '../../../base/texts/text.ts';
import type { FormSection } from '../../console/blocks.ts';
import type { Key, Values } from './keys.ts';

export interface KeySection extends Omit<FormSection, 'fields' | 'summary'> {
  keys: readonly Key[];
  /** Of an advanced section: the current values in a few words. */
  summary?(values: Values): PageText;
}
