// The MACs of applications, of the roles of their access rules, and of client secrets. An application without a valid one is not
// usable, and cannot be changed: a change of something else must not confirm what another program wrote.
import type { Covered, ProtectedRows } from '../../base/storage/protected-rows.ts';

export interface ApplicationColumns {
  id: string;
  clientId: string;
  protocol: string;
  name: string;
  enabled: boolean | number;
  consent: string;
  access: string;
  metadata: string;
  source: string;
}

export interface ClientSecretColumns {
  id: string;
  applicationId: string;
  secretHash: string | null;
  secretSealed: string | null;
  expiresAt: Date | string | null;
}

type Writer = ProtectedRows;
type Reader = ProtectedRows;

export function applicationMac(row: ApplicationColumns, { macOf }: Writer): string {
  return macOf('applications', row);
}

/** Whether this server wrote the row; raises an alarm if not. */
export function isGenuineApplication(row: ApplicationColumns & { mac: string }, { isGenuine }: Reader): boolean {
  return isGenuine('applications', row, row.mac);
}

/** The row that lets a role use an application, with its MAC. */
export function accessRow(applicationId: string, roleId: string, { macOf }: Writer) {
  return { applicationId, roleId, mac: macOf('application_roles', { applicationId, roleId }) };
}

export function isGenuineAccess(
  { applicationId, roleId, mac }: { applicationId: string; roleId: string; mac: string },
  { isGenuine }: Reader,
): boolean {
  return isGenuine('application_roles', { applicationId, roleId }, mac);
}

/** The row of a client secret with its MAC, which binds it to its application and its end. */
export function clientSecretRow<Row extends ClientSecretColumns>(row: Row, { macOf }: Writer): Row & { mac: string } {
  return { ...row, mac: macOf('client_secrets', coveredSecret(row)) };
}

export function isGenuineSecret(row: ClientSecretColumns & { mac: string }, { isGenuine }: Reader): boolean {
  return isGenuine('client_secrets', coveredSecret(row), row.mac);
}

/** What the MAC of a client secret covers. */
export function coveredSecret(row: ClientSecretColumns): Covered<'client_secrets'> {
  return row;
}
