// What the test bench is created with.
import type { AdminServices } from '../admin/admin-services.ts';
import type { ConsoleServices } from '../admin/console-services.ts';
import type { InternalRequest } from '../base/http/internal-request.ts';
import type { TestTickets } from '../protocols/oidc/store/test-tickets.ts';
import type { TestSp } from './test-sp.ts';

export type TestBenchServices = AdminServices &
  ConsoleServices & {
    /** Calls an endpoint of this server without the network. */
    internalRequest: InternalRequest;
    tickets: TestTickets;
    /** The built-in test service provider. */
    testSp: TestSp;
  };
