// The services of a test that creates only some: the code under test must use no others.
import type { Http } from '../../src/base/http/http.ts';
import type { Services } from '../../src/server/services.ts';

export const servicesOf = (members: Partial<Services & Http>): Services & Http => members as Services & Http;
