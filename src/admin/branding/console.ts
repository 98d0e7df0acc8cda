// /admin/branding: the look of the pages and mails for people, with a preview of the real pages beside it.

import Router from '@koa/router';
import { z } from 'zod';
import type { BrandSetting } from '../../applications/brand/brand.ts';
import { ImageError } from '../../applications/brand/images/image-error.ts';
import { imageLimits } from '../../applications/brand/limits.ts';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { AppError, invalidInput } from '../../base/http/errors.ts';
import { acceptPictures, parseForm, parseQuery } from '../../base/http/input.ts';
import { languageForPeople } from '../../base/http/pages/language.ts';
import type { Fault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { SettingEntry } from '../../core/settings/settings.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type ConsolePage, type Field, VERSION, versionField } from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { fileNotice } from '../console/managed-by-file.ts';
import { addPage, type FormReader } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { changesOf, type Lock } from '../settings/console-fields.ts';
import { brandSections, entriesOf, storedPictures, valueIn, withChanges, withNames } from './fields.ts';
import { brandPreviewRoutes, type Choice, previewAddress, previewFields, previewQuery } from './preview.ts';
import { applicationField, type NamedApplication, namedApplication } from './preview-choices.ts';
import { brandTabs } from './tabs.ts';
import { textRoutes } from './texts/console.ts';

export const HERE = '/admin/branding';
const CHANGE = 'gatehouse.settings:write' as const;
const FORM = 'brand';
const APPLICATION = 'application';
/** The button of the preview. */
const SHOW = 'show';
const MAX_MEGABYTES = imageLimits.formBytes / 1024 / 1024;
const form = z.record(z.string(), z.array(z.string().max(imageLimits.formBytes * 2)));

/** The form as it was sent, each picture stored under its name, and what is wrong with those that are not. */
interface SentBrand {
  sent: Sent;
  faults: Fault[];
}

/** The page, its preview, and the page of texts. */
export function brandRoutes(services: ConsoleServices): Router<State, Extras>[] {
  const {
    frame,
    db,
    admin: { settings },
    brandImages: images,
  } = services;
  const router = new Router<State, Extras>({ prefix: HERE });
  const isShown = (sent: Sent) => Boolean(sentValue(sent, SHOW));

  const readBrand: FormReader<SentBrand> = async (ctx) => {
    const faults: Fault[] = [];
    const sent = await withNames(await parseForm(ctx, form, { lists: 'every field' }), async (name, data) => {
      try {
        const image = await images.prepare(data);
        await images.save(db, image);
        return image.name;
      } catch (error) {
        if (!(error instanceof ImageError)) throw error;
        faults.push({ ...error.fault, path: [name] });
        return undefined;
      }
    });
    return { given: { sent, faults }, isRowButton: isShown(sent) && faults.length === 0 };
  };

  // The form again, although nothing of it could be read.
  const againIfTooLarge: Middleware = async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'body_too_large') throw error;
      ctx.set(error.headers);
      const page = await brandPage(services, ctx, { all: await settings.list(), mayChange: true });
      frame.show(ctx, { ...page, error: t('console.branding.too-large', { size: MAX_MEGABYTES }) }, error.status);
    }
  };

  addPage<SettingEntry[], SentBrand>(router, frame, '/', {
    needs: ['gatehouse.settings:read'],
    submitNeeds: [CHANGE],
    load: () => settings.list(),
    accepts: [acceptPictures(imageLimits.formBytes), ...frame.page(CHANGE), againIfTooLarge],
    form: readBrand,
    page: ({ ctx, subject: all, may }, given) =>
      brandPage(services, ctx, { all, mayChange: may(CHANGE), sent: given?.sent }),
    async submit({ ctx, by, subject: entries }, { sent, faults }) {
      if (isShown(sent)) throw invalidInput(faults);
      const application = sentValue(sent, APPLICATION) ?? '';
      const changes = changesOf(application ? entriesOf(application, entries) : entries, sent, faults);
      const all = application ? { brand_applications: withChanges(application, entries, changes) } : changes;
      await settings.update(all, by, sentValue(sent, VERSION) ?? '');
      return { to: addressOf(choiceOf(ctx, sent)), notice: t('console.branding.saved') };
    },
  });
  return [router, brandPreviewRoutes(services), textRoutes(services)];
}

async function brandPage(
  { names, config: { configFile } }: ConsoleServices,
  ctx: Context,
  { all, mayChange, sent = {} }: { all: SettingEntry[]; mayChange: boolean; sent?: Sent | undefined },
): Promise<ConsolePage> {
  const chosen = choiceOf(ctx, sent);
  const { application, field } = await namedApplication(names, chosen.application);
  const choice = { ...chosen, application };
  const entries = application ? entriesOf(application, all) : all;
  const lockOf = ({ source }: SettingEntry): Lock =>
    source === 'file' ? 'file' : mayChange ? undefined : 'permission';
  const sections = brandSections(entries, sent, lockOf);
  const isDeclared = sections.some(({ fields }) => fields.some(({ isFromFile }) => isFromFile));
  const typed = (name: BrandSetting) => valueIn(name, entries, sent);
  const blocks: Block[] = [
    ...(isDeclared ? [fileNotice(configFile, 'settings')] : []),
    {
      kind: 'form',
      id: FORM,
      action: addressOf({ ...UNCHOSEN, application }),
      isUpload: true,
      fields: mayChange
        ? [
            versionField(sentValue(sent, VERSION) ?? etagOf(all)),
            { name: APPLICATION, label: '', type: 'hidden', value: application },
            ...storedPictures(entries, sent),
          ]
        : [],
      sections,
      ...(mayChange && {
        button: t('console.shared.save-changes'),
        cancel: addressOf(choice),
        cancelLabel: t('console.shared.discard'),
      }),
    },
  ];
  const name = (await names.applications([application])).get(application)?.name;
  return {
    title: application
      ? t('console.branding.of', { application: name ?? application })
      : t('console.navigation.branding'),
    lead: application ? (name ? OF_APPLICATION : UNKNOWN) : OF_ALL,
    ...(application && { back: { href: HERE, label: t('console.navigation.branding') } }),
    ...(!application && { actions: [{ label: t('console.languages.tab'), href: '/admin/settings/languages' }] }),
    tabs: brandTabs('look'),
    isHalved: true,
    blocks,
    aside: previewBlocks(ctx, choice, { src: previewAddress(choice, typed), mayChange, field }),
  };
}

/** What was chosen with the form, else in the address. */
function choiceOf(ctx: Context, sent: Sent): Choice {
  const query = parseQuery(ctx, previewQuery);
  const names = Object.keys(previewQuery.shape);
  const given = names.flatMap((name) => (sent[name] === undefined ? [] : [[name, sentValue(sent, name)]]));
  return previewQuery.parse({ ...query, ...Object.fromEntries(given) });
}

/** The choices are sent with the form, so that nothing is lost that is typed there. */
function previewBlocks(
  ctx: Context,
  choice: Choice,
  { src, mayChange, field }: { src: string; mayChange: boolean } & Pick<NamedApplication, 'field'>,
): Block[] {
  const { page, mode, language, application } = choice;
  const hidden = (values: Record<string, string | undefined>): Field[] =>
    Object.entries(values).map(([name, value]) => ({ name, label: '', type: 'hidden', value }));
  const fields = previewFields(choice, ctx.state.offeredLanguages().tags, languageForPeople(ctx));
  const show = { action: HERE, button: t('console.branding.show') };
  return [
    {
      kind: 'search',
      action: HERE,
      fields: [applicationField({ field }), ...hidden({ page, mode, language })],
      button: t('console.branding.open'),
    },
    mayChange
      ? { kind: 'search', ...show, of: FORM, fields }
      : { kind: 'search', ...show, fields: [...hidden({ application }), ...fields] },
    { kind: 'preview', title: t('console.branding.preview'), src, follows: FORM, isTall: true },
  ];
}

const OF_ALL = t('console.branding.lead');
const OF_APPLICATION = t('console.branding.lead-application');
const UNKNOWN = t('console.branding.lead-unknown');

const UNCHOSEN: Choice = previewQuery.parse({});

function addressOf({ application, page, language, mode }: Choice): string {
  return listPath(HERE, {
    [APPLICATION]: application,
    page: page === UNCHOSEN.page ? undefined : page,
    language,
    mode: mode === UNCHOSEN.mode ? undefined : mode,
  });
}
