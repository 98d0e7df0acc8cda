// A product beside the preset that the console registers it with: the registration and the guide of the preset, people to sign in, and
// what is tried with it.
import { demandResults, receivedOf } from '../../../src/admin/applications/presets/demands.ts';
import type { Answers, Declaration, IdentityProvider } from '../../../src/admin/applications/presets/parts.ts';
import { presetOf } from '../../../src/admin/applications/presets/presets.ts';
import type { ProductPreset } from '../../../src/admin/applications/presets/products.ts';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { textOf } from '../../support/pages/html.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { open, travel } from '../travel.ts';

/** A product that runs, and what is tried with it. */
export interface Product {
  version: string;
  /** Each returns what is worth a note, and throws where the product does something else than its guide says. */
  trials: Record<string, () => Promise<string>>;
  stop(): Promise<void>;
}

export type StartProduct = (gatehouse: Gatehouse) => Promise<Product>;

export interface Registered {
  preset: ProductPreset;
  clientId: string;
  clientSecret: string;
  metadata: Record<string, unknown>;
  /** The texts of the guide, one after the other, by their titles. */
  guide: { title: string; text: string }[];
}

/** Registers the application as the form of the console does, creates the roles of the preset, and fills in its guide. */
export async function register(gatehouse: Gatehouse, id: string, answers: Answers): Promise<Registered> {
  const { services, issuer } = gatehouse;
  const preset = presetOf(id) as ProductPreset;
  const declaration: Declaration = { ...preset.toDeclaration(answers, 'Gatehouse'), preset: id };
  for (const { name } of preset.roles ?? []) await services.roles.create({ name });
  const identity = { clientId: String(declaration.entity_id), clientSecret: '' };
  if (preset.protocol === 'oidc') Object.assign(identity, await aClient(services, declaration));
  else {
    const entry = serviceProvider.parse(declaration);
    await services.applications.createSaml({
      ...entry,
      entityId: identity.clientId,
      settings: settingsOf(entry, undefined),
    });
  }
  const [certificate] = services.keyring.samlCertificates();
  const provider: IdentityProvider = {
    name: 'Gatehouse',
    issuer,
    clientId: identity.clientId,
    certificate: certificate?.certificatePem ?? '',
    ...(identity.clientSecret && { clientSecret: identity.clientSecret }),
  };
  const guide = preset
    .setupInstructions(provider, declaration)
    .map(({ title, text }) => ({ title: String(title), text: String(text) }));
  return { preset, ...identity, metadata: declaration, guide };
}

/** Registers a web application of one's own, as the form of the console does for a product without a preset. */
export function registerWeb({ services }: Gatehouse, answers: Answers): ReturnType<typeof aClient> {
  return aClient(services, presetOf('web')?.toDeclaration(answers, 'Gatehouse'));
}

let people = 0;

/** A new person, with a verified address unless said otherwise. */
export async function aPerson(
  { services }: Gatehouse,
  { roles = [], groups = [], ...profile }: { roles?: string[]; groups?: string[] } & Parameters<typeof aUser>[1] = {},
): Promise<TestUser> {
  people += 1;
  const username = `person${people}`;
  const user = await aUser(services, {
    username,
    email: `${username}@example.com`,
    emailVerified: true,
    name: 'Ann Example',
    ...profile,
  });
  for (const role of roles) await services.roles.assign(user.account.id, role);
  for (const name of groups) {
    const group = (await services.groups.find(name)) ?? (await services.groups.create({ name }));
    await services.groups.addMembers(group.id, [{ userId: user.account.id }]);
  }
  return user;
}

const MEMBERSHIP_SECONDS = 20;

/** A person, new unless given, who is in the group for a while; `ended` waits until that is over. */
export async function aMember(
  gatehouse: Gatehouse,
  name: string,
  member?: TestUser,
): Promise<{ person: TestUser; groupId: string; ended(): Promise<void> }> {
  const { groups } = gatehouse.services;
  const person = member ?? (await aPerson(gatehouse));
  const { id: groupId } = (await groups.find(name)) ?? (await groups.create({ name }));
  const until = new Date(Date.now() + MEMBERSHIP_SECONDS * 1000);
  await groups.addMembers(groupId, [{ userId: person.account.id, until }]);
  const ended = () => new Promise<void>((resolve) => setTimeout(resolve, until.getTime() + 100 - Date.now()));
  return { person, groupId, ended };
}

/** Opens the address in a new browser, or the given one, and signs in at Gatehouse. */
export async function signIn(
  gatehouse: Gatehouse,
  url: string,
  { username, password }: TestUser,
  browser: HttpClient = httpClient(),
): Promise<{ browser: HttpClient; page: Page }> {
  const form = await open(browser, url);
  if (!form.url.startsWith(gatehouse.issuer)) throw new Error(`not sent to sign in: ${described(form)}`);
  return { browser, page: await travel(browser, await browser.submit(form, { username, password })) };
}

/** The states of what the product demands that this person does not meet, as the access check has them. */
export async function unmetDemands(
  { services }: Gatehouse,
  { preset, clientId }: Registered,
  user: TestUser,
): Promise<string[]> {
  const account = await services.accounts.find(user.account.id);
  const application = await services.applications.find(clientId);
  if (!account || !application) throw new Error('no account or application');
  return demandResults(preset, receivedOf(account, application, preset))
    .filter(({ state }) => state !== 'met')
    .map(({ demand, state }) => `${demand} ${state}`);
}

/** Signs this browser out at Gatehouse, and waits until the server has notified the applications. */
export async function signOutHere(gatehouse: Gatehouse, browser: HttpClient): Promise<void> {
  const asked = await open(browser, `${gatehouse.issuer}/logout`);
  await travel(browser, await browser.submit(asked, { logout: 'yes' }));
}

/** Waits for this, which another program brings about. */
export async function eventually(what: string, isSo: () => Promise<boolean>, seconds = 30): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not so within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The first of the guide's texts whose title has this. */
export function guideText({ guide }: Registered, title: string): string {
  const found = guide.find((one) => one.title.includes(title));
  if (!found) throw new Error(`the guide has no ${title}: ${guide.map((one) => one.title).join(', ')}`);
  return found.text;
}

export const described = (page: Page): string => `${page.status} ${page.url} ${textOf(page.text).slice(0, 300)}`;

/** Throws with what was expected and the page. */
export function expectPage(what: string, page: Page, isSo: boolean): void {
  if (!isSo) throw new Error(`${what}: ${described(page)}`);
}
