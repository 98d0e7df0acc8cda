// The pages around a sensitive change without a fresh sign-in: who is signed in and why it is needed, then the form again.

import type { Fields } from '../../base/http/input.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Proof } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import {
  type ConsolePage,
  type Field,
  type FormBlock,
  fieldsOf,
  formsOf,
  hiddenField,
  type TextBlock,
  withForms,
} from '../console/blocks.ts';

/** Says who is signed in and why a sign-in is needed, with a link to it. For users who cannot confirm in one step. */
export function confirmationPage(
  { change, page }: StoredForm,
  { account, proof, signInUrl }: { account: Account; proof: Proof; signInUrl: string },
): ConsolePage {
  return {
    title: t('second-factor.title'),
    lead: sentences([t('console.proof.about', { change }), reasonOf(proof)]),
    ...(page.back && { back: page.back }),
    blocks: [
      {
        kind: 'facts',
        rows: [
          {
            label: t('console.proof.signed-in-as'),
            value: { text: displayName(account), small: account.username },
          },
          { label: t('console.proof.last-sign-in'), value: proof.authTime },
        ],
      },
      { kind: 'text', text: t('console.proof.nothing-changed') },
      {
        kind: 'actions',
        items: [
          { label: t('console.proof.sign-in'), href: signInUrl, look: 'primary' },
          { label: t('console.page.cancel'), href: page.back?.href ?? '/admin', look: 'secondary' },
        ],
      },
    ],
  };
}

/** Why a proof is needed now. */
export function reasonOf(proof: Proof): PageText {
  if (proof.isRecent) return t(`console.proof.needs-${proof.mailedCode ? 'mailed-code' : 'factor'}`);
  return sentences([t('console.proof.needs-recent', { count: proof.minutes }), t('console.proof.protects')]);
}

/** The page with the filled-in form, as it stands behind the question: without passwords and tokens, which only the proof brings back. */
export function pageBehind(page: ConsolePage): ConsolePage {
  const withoutSecrets = (fields: readonly Field[]) =>
    fields.map((field) => (field.type === 'password' ? { ...field, value: '' } : field));
  return {
    ...page,
    blocks: withForms(page.blocks, (form) => {
      const sections = form.sections?.map((section) => ({ ...section, fields: withoutSecrets(section.fields) }));
      return { ...form, fields: withoutSecrets(form.fields), ...(sections && { sections }) };
    }),
  };
}

const CONFIRMED = 'confirmed';

/** The form as it was filled in, after the sign-in. A long one can be sent from the top, so that nobody has to look for its button. */
export function filledInPage({ change, path, page }: StoredForm): ConsolePage {
  const form = formsOf({ blocks: page.blocks }).find(({ action }) => action === path);
  const button = form?.button;
  const text = t('console.proof.confirmed', { button: button ?? t('console.proof.continue'), change });
  const notice: TextBlock = { kind: 'text', tone: 'notice', text };
  if (!form || !button || !hasFields(form)) return { ...page, blocks: [notice, ...page.blocks] };
  const sendable: FormBlock = { ...form, id: CONFIRMED, look: 'secondary' };
  return {
    ...page,
    above: [{ ...notice, sends: { form: CONFIRMED, button } }, ...(page.above ?? [])],
    blocks: withForms(page.blocks, (one) => (one === form ? sendable : one)),
  };
}

const hasFields = (form: FormBlock) => fieldsOf(form).some(({ type }) => type !== 'hidden');

/** A button that was pressed on a page without fields: the same button on a page of its own. */
export function pressedButtonPage(title: PageText, path: string, sent: Fields, cancel: string): ConsolePage {
  const fields = Object.entries(sent).flatMap(([name, values]) =>
    [values].flat().map((value) => hiddenField(name, value)),
  );
  return {
    title,
    back: { href: cancel, label: t('console.page.back') },
    blocks: [{ kind: 'form', action: path, fields, button: t('console.proof.continue'), look: 'danger', cancel }],
  };
}

// A form of the console that was sent without a fresh sign-in, and the addresses of the pages that wait in the database
// (base/http/stored-pages.ts).

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
  /** The whole address, and what was sent there, without its token. */
  url: string;
  fields: Fields;
}
