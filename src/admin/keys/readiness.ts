// The parties that verify the SAML signatures of this server, and the state of each: a rotation breaks those without the next certificate.
import type { Application } from '../../applications/application.ts';
import { limits } from '../../base/limits.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { ConsoleServices } from '../console-services.ts';

export interface Verifier {
  application: Application;
  /** Its last sign-in of the last 30 days; undefined: none, or not counted yet. */
  lastSignIn: Date | undefined;
  /** When its own metadata is read again; undefined: it is not read from a URL, or was not read yet. */
  nextReadAt: Date | undefined;
  /** A change of its own metadata waits for an administrator. */
  isWaiting: boolean;
}

/** The enabled service providers, by name; `isMore`: the list was cut. */
export async function serviceProviders(
  { admin, db, signIns }: ConsoleServices,
  by: Actor,
): Promise<{ verifiers: Verifier[]; isMore: boolean }> {
  const filter = { protocol: 'saml', enabled: true, limit: limits.api.pageSize } as const;
  const [{ applications: found, next }, counts] = await Promise.all([
    admin.applications.list(filter, by),
    signIns.lastDays(),
  ]);
  const ids = found.map(({ id }) => id);
  const rows = await db.asStored.samlMetadata.findMany({ where: { applicationId: { in: ids } } });
  const verifiers = found.map((application) => {
    const state = rows.find(({ applicationId }) => applicationId === application.id);
    return {
      application,
      lastSignIn: counts?.get(application.clientId)?.last,
      nextReadAt: state?.nextReadAt,
      isWaiting: Boolean(state?.pendingXml),
    };
  });
  return { verifiers, isMore: next !== undefined };
}
