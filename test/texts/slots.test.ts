// Names in a text that a page displays in their own way, such as links.
import { describe, expect, it } from 'vitest';
import { allOf, inLanguage, partsOf, Slot, sentenceCase, t } from '../../src/base/texts/text.ts';

describe('a slot in a text', () => {
  const ann = new Slot({ text: 'ann', href: '/users/ann' });
  const wiki = new Slot({ text: '<Wiki>' });
  const methods = allOf([t('activity.method.password'), t('activity.method.passkey')]);
  const text = t('activity.event.sign-in.completed.app', { user: ann, app: wiki, with: methods });

  it('stands where the language puts it, also in a text inside of the text', () => {
    expect(partsOf(text)).toEqual([ann, ' signed in to ', wiki, ' with ', 'a password and a passkey']);
    expect(inLanguage('de', () => partsOf(text))).toEqual([
      ...[ann, ' hat sich mit ', 'einem Passwort und einem Passkey', ' bei ', wiki, ' angemeldet'],
    ]);
    expect(partsOf(t('activity.event.failed', { event: text }))).toContain(ann);
    expect(partsOf('ann')).toEqual(['ann']);
  });

  it('is its text outside of such a page, escaped in HTML', () => {
    expect(String(text)).toBe('ann signed in to <Wiki> with a password and a passkey');
    expect(text.toHtml()).toBe('ann signed in to &lt;Wiki&gt; with a password and a passkey');
  });

  it('stays as it is at the beginning of a sentence, where other words have a capital', () => {
    const removed = (actor: Slot | ReturnType<typeof t>) =>
      sentenceCase(t('activity.event.factors.reset', { actor, user: ann }));
    expect(String(removed(t('activity.actor.administrator')))).toBe(
      'An administrator reset two-step verification for ann',
    );
    expect(String(removed(ann))).toBe('ann reset two-step verification for ann');
    expect(removed(t('activity.actor.server')).toHtml()).toBe('The server reset two-step verification for ann');
  });
});
