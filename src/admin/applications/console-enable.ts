// Enabling, disabling and deleting one application.

import type { Application } from '../../applications/application.ts';
import { t } from '../../base/texts/text.ts';
import type { Block } from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { Pages } from '../resource.ts';
import type { ApplicationDetails } from './actions.ts';

/** The pages …/disable and …/delete, which ask for confirmation, and the action …/enable. */
export function addEnableAndDeletePages(
  { change, question }: Pages<ApplicationDetails>,
  { admin: { applications } }: ConsoleServices,
): void {
  const back = ({ application: { id, name } }: ApplicationDetails) => ({
    href: `/admin/applications/${id}/settings`,
    label: name,
  });

  change('/enable', {
    async submit({ by, subject: { application } }) {
      await applications.setEnabled(application, true, by);
      return { to: `/admin/applications/${application.id}`, notice: t('console.applications.enable.done') };
    },
  });
  question('/disable', {
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    title: ({ application: { name } }) => t('console.applications.disable.question', { name }),
    back,
    lead: ({ subject: { application } }) => t('console.applications.disable.consequence', { name: application.name }),
    button: t('console.shared.disable'),
    async submit({ by, subject: { application } }) {
      await applications.setEnabled(application, false, by);
      return { to: `/admin/applications/${application.id}`, notice: t('console.applications.disable.done') };
    },
  });
  question('/delete', {
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    title: ({ application: { name } }) => t('console.applications.delete.question', { name }),
    back,
    lead: ({ subject: { application } }) => t('console.applications.delete.consequence', { name: application.name }),
    typedName: ({ application }) => application.name,
    async submit({ by, subject: { application } }) {
      await applications.remove(application.id, by);
      return { to: '/admin/applications', notice: t('console.applications.delete.done') };
    },
  });
}

/** The last section of the application's settings. */
export function enableAndDeleteButtons({ enabled, name }: Pick<Application, 'enabled' | 'name'>, at: string): Block {
  const enable = {
    title: t('console.applications.enable.title'),
    text: t('console.applications.enable.text', { name }),
    action: { label: t('console.shared.enable'), post: `${at}/enable` },
  };
  const disable = {
    title: t('console.applications.disable.title'),
    text: t('console.applications.disable.consequence', { name }),
    action: { label: t('console.shared.disable'), href: `${at}/disable`, look: 'danger' as const },
  };
  const remove = {
    title: t('console.applications.delete.title'),
    text: t('console.applications.delete.consequence', { name }),
    action: { label: t('console.shared.delete'), href: `${at}/delete`, look: 'danger' as const },
  };
  return dangerZone([enabled ? disable : enable, remove]);
}
