// Builds diagnostics: why a request was rejected, whether a user may open an application, and what it would receive.
import { accessCheckEndpoints, createAccessCheck } from './access-check/access-check.ts';
import { accessCheckRoutes } from './access-check/console.ts';
import { rejectionRoutes } from './rejections/console.ts';
import { createRejectionAdmin, rejectionEndpoints } from './rejections/explanation.ts';
import type { DiagnosticServices } from './services.ts';

/** Endpoints for the admin API, and routers for the console. */
export function createDiagnostics(services: DiagnosticServices) {
  const accessCheck = createAccessCheck(services);
  const rejections = createRejectionAdmin(services);
  return {
    endpoints: [...rejectionEndpoints(rejections), ...accessCheckEndpoints(accessCheck)],
    routers: [rejectionRoutes({ ...services, rejections }), accessCheckRoutes({ ...services, accessCheck })],
  };
}
