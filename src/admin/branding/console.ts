// /admin/branding: the look of the pages and mails for people, with a preview of the real pages beside it.
import Router from '@koa/router';
import { z } from 'zod';
import type { Brand, BrandSetting } from '../../brand/brand.ts';
import type { ImageStore } from '../../brand/image-store.ts';
import { ImageFault } from '../../brand/images/image-fault.ts';
import { imageLimits } from '../../brand/limits.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { badRequest, type FieldFault } from '../../http/errors.ts';
import { acceptPictures, parseForm, parseQuery } from '../../http/input.ts';
import type { SettingEntry } from '../../settings/settings.ts';
import type { Db } from '../../storage/database.ts';
import { t } from '../../texts/text.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type ConsolePage, VERSION, versionField } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { fileNotice } from '../console/managed-by-file.ts';
import type { Names } from '../console/names.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { SettingAdmin } from '../settings/actions.ts';
import { changesOf, type Lock } from '../settings/console-fields.ts';
import { brandSections, entriesOf, storedPictures, valueIn, withChanges, withNames } from './fields.ts';
import { brandPreviewRoutes, previewAddress, previewFields, previewQuery } from './preview.ts';
import { brandTabs } from './tabs.ts';
import { textRoutes } from './texts/console.ts';

export const HERE = '/admin/branding';
const READ = 'gatehouse.settings:read' as const;
const CHANGE = 'gatehouse.settings:write' as const;
const FORM = 'brand';
const APPLICATION = 'application';
const form = z.record(z.string(), z.array(z.string().max(imageLimits.requestBytes * 2)));

export interface BrandPagesDependencies {
  frame: Frame;
  db: Db;
  settings: SettingAdmin;
  brand: Pick<Brand, 'with'>;
  names: Pick<Names, 'applications'>;
  images: Pick<ImageStore, 'prepare' | 'save'>;
  /** The path of the configuration file. */
  configFile: string | undefined;
}

/** The page, its preview, and the page of texts. */
export function brandRoutes(dependencies: BrandPagesDependencies): Router<State, Extras>[] {
  const { frame, db, settings, images, brand } = dependencies;
  const router = new Router<State, Extras>({ prefix: HERE });

  const storeOf = (faults: FieldFault[]) => async (name: BrandSetting, data: string) => {
    try {
      const image = await images.prepare(data);
      await images.save(db, image);
      return image.name;
    } catch (error) {
      if (!(error instanceof ImageFault)) throw error;
      faults.push({ field: name, message: error.message });
      return undefined;
    }
  };

  router.get('/', ...frame.page(READ), async (ctx) => {
    frame.show(ctx, await brandPage(ctx, dependencies, await settings.list(), {}));
  });

  router.post('/', acceptPictures(imageLimits.requestBytes), ...frame.change(CHANGE), async (ctx) => {
    const entries = await settings.list();
    let sent: Sent = await parseForm(ctx, form, { lists: 'every field' });
    await frame.attempt(
      ctx,
      async () => {
        const faults: FieldFault[] = [];
        sent = await withNames(sent, storeOf(faults));
        if (faults.length > 0) throw badRequest('invalid_input', { fields: faults });
        const application = sentValue(sent, APPLICATION) ?? '';
        const changes = changesOf(application ? entriesOf(application, entries) : entries, sent);
        const all = application ? { brand_applications: withChanges(application, entries, changes) } : changes;
        await settings.update(all, frame.actor(ctx), sentValue(sent, VERSION) ?? '');
        frame.redirect(ctx, addressOf(application), t('console.branding.saved'));
      },
      () => brandPage(ctx, dependencies, entries, sent),
    );
  });
  return [router, brandPreviewRoutes({ frame, brand }), textRoutes(dependencies)];
}

async function brandPage(
  ctx: Context,
  { frame, names, configFile }: BrandPagesDependencies,
  all: SettingEntry[],
  sent: Sent,
): Promise<ConsolePage> {
  const mayChange = frame.may(ctx, CHANGE);
  const query = parseQuery(ctx, previewQuery);
  const application = sentValue(sent, APPLICATION) ?? query.application.trim();
  const entries = application ? entriesOf(application, all) : all;
  const choice = { ...query, application };
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
      action: HERE,
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
        cancel: addressOf(application),
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
    aside: previewBlocks(choice, previewAddress(choice, typed)),
  };
}

function previewBlocks(choice: Parameters<typeof previewFields>[0], src: string): Block[] {
  return [
    { kind: 'search', action: HERE, fields: previewFields(choice), button: t('console.branding.show') },
    { kind: 'preview', title: t('console.branding.preview'), src, follows: FORM, isTall: true },
  ];
}

const OF_ALL = t('console.branding.lead');
const OF_APPLICATION = t('console.branding.lead-application');
const UNKNOWN = t('console.branding.lead-unknown');

function addressOf(application: string): string {
  return application ? `${HERE}?${new URLSearchParams({ [APPLICATION]: application })}` : HERE;
}
