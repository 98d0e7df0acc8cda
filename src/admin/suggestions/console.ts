// /admin/suggest/…: what a field with autocomplete offers while its user types, as JSON. The same rights as the lists, and the same search.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { logoPath } from '../../base/http/pages/render.ts';
import { fullName, hueOf, initials } from '../../base/http/pages/tokens.ts';
import { dotted, inLanguage, type PageText, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { auditEventTypes, type EventKind, eventTypesByKind } from '../../core/audit/events.ts';
import { sentenceOfType } from '../../core/audit/sentence.ts';
import { within } from '../../people/rbac/rights.ts';
import { eventPattern } from '../../protocols/event-streams/event.ts';
import type { Logo } from '../console/cells.ts';
import type { Frame } from '../console/frame.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { personLogo } from '../console/names.ts';
import { ACCESS_CHECK_NEEDS, SUGGEST, type SuggestionKind } from '../console/suggest.ts';
import type { ConsoleServices } from '../console-services.ts';

/** One entry of the list below the field; `value` is what the field sends. */
interface Suggestion {
  value: string;
  label: string;
  /** A second line. */
  small?: string | undefined;
  logo?: ReturnType<typeof drawn>;
}

/** How many are offered at once. */
const MAX = 8;
const query = z.object({ q: z.string().trim().max(200).default('') });

export function suggestionRoutes({ frame, pictures, admin: { users, applications, roles, groups } }: ConsoleServices) {
  const router = new Router<State, Extras>({ prefix: SUGGEST });

  const offer = (kind: SuggestionKind, guards: ReturnType<Frame['page']>, find: Find) =>
    router.get(`/${kind}`, ...guards, async (ctx: Context) => {
      const { q } = parseQuery(ctx, query);
      const found = q === '' ? [] : await find(q, ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = {
        suggestions: found,
        summary: inLanguage(frame.language(ctx), () => String(summaryOf(found.length))),
      };
    });

  offer('users', frame.page(within('gatehouse.users:read')), async (search, ctx) => {
    const { accounts } = await users.list({ search, limit: MAX }, frame.actor(ctx));
    return accounts.map((account) => {
      const { username, email } = account;
      const name = fullName(account);
      return {
        value: username,
        label: name ?? username,
        small: [name && username, email !== username && email].filter(Boolean).join(' · '),
        logo: drawn(personLogo(account)),
      };
    });
  });

  offer('applications', frame.page(), async (search, ctx) => {
    const found = await applications.list({ search, limit: MAX }, readerOf(ctx));
    const logos = await pictures.addressesOf(found.applications.map(({ id }) => id));
    const inPage = (text: PageText) => inLanguage(frame.language(ctx), () => String(text));
    return found.applications.map(({ id, clientId, name, metadata, access, source }) => ({
      value: clientId,
      label: name,
      small: [
        source === 'file' && inPage(FILE_TAG.text),
        access === 'everyone' && inPage(t('console.users.access.everyone')),
        clientId,
      ]
        .filter(Boolean)
        .join(' · '),
      logo: drawn({ name, picture: logos.get(id), product: metadata.preset }),
    }));
  });

  /** A user who opens the access check can check any application there, so its field offers all of them. Throws 403. */
  function readerOf(ctx: Context): Actor {
    const by = frame.actor(ctx);
    if (ACCESS_CHECK_NEEDS.every((need) => frame.meets(ctx, need))) return { ...by, grantedRights: 'everything' };
    if (frame.meets(ctx, within('gatehouse.applications:read'))) return by;
    throw forbidden('forbidden', { detail: { missing: 'gatehouse.applications:read' } });
  }

  offer('roles', frame.page('gatehouse.roles:read'), async (search) => {
    const wanted = search.toLowerCase();
    const found = (await roles.list()).filter(({ name }) => name.toLowerCase().includes(wanted));
    return found.slice(0, MAX).map(({ name, description }) => ({ value: name, label: name, small: description }));
  });

  offer('groups', frame.page('gatehouse.groups:read'), async (search) =>
    (await groups.list({ search, limit: MAX })).groups.map(({ name, path, description }) => ({
      value: name,
      label: name,
      small: path === `/${name}` ? description : path,
    })),
  );

  offer('event-types', frame.page('gatehouse.audit:read'), async (search, ctx) =>
    inLanguage(frame.language(ctx), () => {
      const words = search.toLowerCase().split(/\s+/);
      const found = eventPatterns().filter(({ pattern, meaning }) => {
        const text = `${pattern} ${meaning}`.toLowerCase();
        return words.every((word) => text.includes(word));
      });
      return found.slice(0, MAX).map(({ pattern, meaning }) => ({ value: pattern, label: pattern, small: meaning }));
    }),
  );

  return router;
}

/** What an event stream can ask for, in the language of the page: the patterns, which mean several types, before the types. */
function eventPatterns(): { pattern: string; meaning: string }[] {
  const patterns = new Set(['*', 'user.*', ...auditEventTypes.map((type) => `${type.split('.')[0]}.*`)]);
  const counted = [...patterns].flatMap((pattern) => {
    const count = eventPattern(pattern)?.length ?? 0;
    return count > 1 ? [{ pattern, meaning: String(t('console.suggestions.event-types', { count })) }] : [];
  });
  const types = Object.entries(eventTypesByKind).flatMap(([kind, types]) =>
    types.map((type) => ({
      pattern: type,
      meaning: String(dotted([sentenceOfType(type), t(`console.events.kind.${kind as EventKind}`)])),
    })),
  );
  return [...counted, ...types];
}

type Find = (search: string, ctx: Context) => Promise<Suggestion[]>;

/** A logo as the script draws it: the address of the picture, else the path of the product's logo, else a text and the class of its hue. */
export function drawn({ name, picture, product, isPerson = false, icon }: Logo) {
  const text = isPerson ? initials(name) : ([...name][0] ?? '');
  return { text, hue: hueOf(name), isPerson, picture, path: logoPath(product), icon };
}

/** What a screen reader says. */
export function summaryOf(count: number): Text {
  return count === MAX
    ? t('console.suggestions.first-matches', { count })
    : t('console.suggestions.matches', { count });
}
