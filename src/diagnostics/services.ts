// What diagnostics is created with: its fixes are actions of administration.
import type { AdminServices } from '../admin/admin-services.ts';
import type { ConsoleServices } from '../admin/console-services.ts';

export type DiagnosticServices = AdminServices & ConsoleServices;
