// What is deleted permanently is named by the administrator first. Only on pages: a request of the API names it in its path.
import type { Context } from '../../http/context.ts';
import { badRequest } from '../../http/errors.ts';
import { readForm } from '../../http/input.ts';
import { t } from '../../texts/text.ts';
import type { Field } from './blocks.ts';

const TYPED_NAME = 'typed_name';

/** @param value as it was typed */
export function typedNameField(name: string, value = ''): Field {
  return { name: TYPED_NAME, label: t('console.shared.typed-name', { name }), value };
}

/** Of the form that was sent. */
export async function readTypedName(ctx: Context): Promise<string> {
  const { [TYPED_NAME]: typed } = await readForm(ctx);
  return typeof typed === 'string' ? typed : '';
}

/** Throws unless the name was typed. Spaces count as a page displays them. */
export function assertTypedName(typed: string, name: string): void {
  if (plain(typed) === plain(name)) return;
  const message = t('console.shared.typed-name.wrong', { name });
  throw badRequest('invalid_input', { fields: [{ field: TYPED_NAME, message }] });
}

const plain = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ');
