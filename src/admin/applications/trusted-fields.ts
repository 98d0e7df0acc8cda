// Which changes of a registration are sensitive: all but those of fields that only describe the application.
import type { Application } from '../../applications/application.ts';
import { applicationEntry } from '../../config-file/export.ts';

const DESCRIPTIVE = ['client_name', 'name', 'logo_uri', 'contacts', 'preset'];

/** Whether the registrations differ in an address, a key, a right, or another field that is not descriptive. */
export function changesTrust(before: Application, after: Application): boolean {
  const rest = (application: Application) => [
    Object.entries(applicationEntry(application)).filter(([name]) => !DESCRIPTIVE.includes(name)),
    // The entry of a service provider that is registered by URL does not hold the document.
    application.protocol === 'saml' && application.metadata.metadata_xml,
  ];
  return JSON.stringify(rest(before)) !== JSON.stringify(rest(after));
}
