// /admin/applications/:id/picture: the picture of an application, where it comes from, and why there is none; with a form to choose one.

import { z } from 'zod';
import type { Application } from '../../../applications/application.ts';
import { imageLimits } from '../../../applications/brand/limits.ts';
import type { PictureState } from '../../../applications/pictures/pictures.ts';
import { invalidInput } from '../../../base/http/errors.ts';
import { acceptPictures } from '../../../base/http/input.ts';
import { fault } from '../../../base/texts/faults.ts';
import { type PageText, sentences, t } from '../../../base/texts/text.ts';
import { bytesOf, isImageData } from '../../../core/settings/value-schemas.ts';
import { ACCEPTED_PICTURES, type Block, type Cell, type ConsolePage } from '../../console/blocks.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { Pages } from '../../noun-pages.ts';
import type { ApplicationDetails } from '../actions.ts';
import { type OpenApplication, openApplication } from '../tabs/tab-page.ts';

const form = z.object({
  picture: z
    .string()
    .max(imageLimits.requestBytes * 2)
    .default(''),
});

/** The page and its actions. */
export function addPicturePages({ one, change }: Pages<ApplicationDetails>, services: ConsoleServices): void {
  const { applications } = services.admin;
  one('/picture', {
    accepts: acceptPictures(imageLimits.requestBytes),
    form,
    page: async (visit) => picturePage(await openApplication(visit, services)),
    async submit({ by, subject: { application } }, { picture }) {
      if (!isImageData(picture)) throw invalidInput([fault(['picture'], 'picture-kind')]);
      await applications.choosePicture(application, bytesOf(picture), by);
      return { to: pathOf(application), notice: t('console.applications.picture.saved') };
    },
  });
  change('/picture/remove', {
    async submit({ by, subject: { application } }) {
      await applications.removePicture(application, by);
      return { to: pathOf(application), notice: t('console.applications.picture.removed') };
    },
  });
  change('/picture/fetch', {
    async submit({ by, subject: { application } }) {
      await applications.fetchPicture(application, by);
      return { to: pathOf(application), notice: t('console.applications.picture.fetching'), tone: 'plain' };
    },
  });
}

const pathOf = ({ id }: Application) => `/admin/applications/${id}/picture`;

function picturePage({ application, path, picture, isEditable: mayWrite, mayChange }: OpenApplication): ConsolePage {
  const { name } = application;
  const here = `${path}/picture`;
  const isChosen = picture !== undefined && picture.url === undefined;
  const items = [
    ...(mayChange && picture?.url !== undefined
      ? [{ label: t('console.applications.picture.fetch'), icon: 'refresh-cw', post: `${here}/fetch` }]
      : []),
    ...(mayWrite && isChosen ? [{ label: t('console.applications.picture.remove'), post: `${here}/remove` }] : []),
  ];
  return {
    title: t('console.applications.picture.title', { name }),
    lead: t('console.applications.picture.lead'),
    logo: { name, picture: picture?.address },
    back: { href: `${path}/settings`, label: name },
    blocks: [
      { kind: 'facts', title: t('console.applications.picture.now'), rows: factsOf(picture), actions: items },
      ...(mayWrite ? [chooseForm(here, picture)] : []),
    ],
  };
}

function chooseForm(action: string, picture: PictureState | undefined): Block {
  return {
    kind: 'form',
    title: t('console.applications.picture.choose'),
    action,
    isUpload: true,
    fields: [
      {
        name: 'picture',
        label: t('console.applications.picture.label'),
        hint: t('console.applications.picture.hint', { size: imageLimits.bytes / 1000 }),
        type: 'file',
        accept: ACCEPTED_PICTURES,
        picture: picture?.address === undefined ? undefined : { src: picture.address },
        required: true,
      },
    ],
    button: t('console.applications.picture.save'),
  };
}

function factsOf(picture: PictureState | undefined): { label: PageText; value: Cell }[] {
  const status = { label: t('console.shared.status'), value: statusOf(picture) };
  if (!picture) return [status];
  const { url, failure, nextTryAt } = picture;
  const source: Cell = url === undefined ? t('console.applications.picture.chosen') : { text: url, code: true };
  return [
    status,
    { label: t('console.applications.picture.source'), value: source },
    ...(failure ? [{ label: t('console.applications.picture.reason'), value: failure }] : []),
    ...(failure && nextTryAt ? [{ label: t('console.applications.picture.next'), value: nextTryAt }] : []),
  ];
}

function statusOf(picture: PictureState | undefined): Cell {
  if (!picture) return t('console.applications.picture.none');
  const { address, failure } = picture;
  if (failure) return { text: t('console.applications.picture.failed'), tone: 'warn' };
  return address
    ? { text: t('console.applications.picture.ready'), tone: 'good' }
    : t('console.applications.picture.waiting');
}

/** On the settings page: what the picture is now, and where it is changed. */
export function pictureTask({ path, picture, isEditable: mayWrite }: OpenApplication): Block {
  const label = mayWrite ? t('console.applications.picture.change') : t('console.applications.picture.view');
  const text = picture?.failure
    ? t('console.applications.picture.failed')
    : picture
      ? t('console.applications.picture.task', { isChosen: picture.url === undefined ? 'yes' : 'no' })
      : t('console.applications.picture.none');
  return {
    kind: 'tasks',
    title: t('console.applications.picture.label'),
    rows: [{ text, action: { label, href: `${path}/picture` } }],
  };
}

/** On the page of the application: why its pages have no picture. */
export function pictureWarning({ picture }: OpenApplication): Block[] {
  if (!picture?.failure) return [];
  const text = sentences([t('console.applications.picture.warning'), picture.failure]);
  return [{ kind: 'text', tone: 'warning', text }];
}
