// /admin/applications/:id/test: the test of a website (website-test.ts), with the lines of the configuration to compare for each fault.

import { z } from 'zod';
import type { ProxiedApplication } from '../../applications/application.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Block, ConsolePage } from '../console/blocks.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { Pages } from '../noun-pages.ts';
import type { ApplicationDetails } from './actions.ts';
import { linesAbout } from './presets/proxies.ts';
import type { Tested, WebsiteTest } from './website-test.ts';

const query = z.object({ report: z.string().max(6000).default('') });

/** The page …/test of a website. Its button sends the requests from here; two links send the browser. */
export function addWebsiteTestPage({ one }: Pages<ApplicationDetails>, { admin, websiteTest }: ConsoleServices): void {
  const websiteOf = ({ application }: ApplicationDetails): ProxiedApplication => {
    if (application.protocol !== 'proxy') throw notFound();
    return application;
  };
  one('/test', {
    needs: ['gatehouse.applications:write'],
    assertOpen: ({ by, subject }) => admin.applications.assertMayChange(subject.application, by),
    page({ ctx, subject, by }) {
      const website = websiteOf(subject);
      const report = websiteTest.read(parseQuery(ctx, query).report, website, by);
      const { address } = ctx.state.request;
      const checks = report && websiteTest.browserChecks(website, report, address);
      return testPage({ website, by }, websiteTest, checks, report?.question ? 'question' : 'backend');
    },
    async submit({ subject, by }) {
      const website = websiteOf(subject);
      return { result: testPage({ website, by }, websiteTest, await websiteTest.run(website, by), 'server') };
    },
  });
}

function testPage(
  { website: application, by }: { website: ProxiedApplication; by: Actor },
  test: WebsiteTest,
  checks: readonly Tested[] | undefined,
  from: 'server' | 'question' | 'backend',
): ConsolePage {
  const { id, name } = application;
  const path = `/admin/applications/${id}`;
  const failed = checks?.filter(({ state }) => state === 'failed').length ?? 0;
  const links = test.links(application, by);
  const again = { label: t('console.website-test.run'), icon: 'play', post: `${path}/test`, look: 'primary' as const };
  return {
    title: t('console.website-test.title', { name }),
    lead: t('console.website-test.lead'),
    back: { href: `${path}/setup`, label: name },
    blocks: [
      ...(checks ? resultBlocks(application, test.issuer, checks, failed, from) : []),
      {
        kind: 'tasks',
        title: checks ? t('console.website-test.more') : t('console.website-test.how'),
        rows: [
          { text: t('console.website-test.run-text'), action: again },
          {
            text: t('console.website-test.browser-text'),
            action: { label: t('console.website-test.browser'), href: links.question },
          },
          {
            text: t('console.website-test.backend-text'),
            action: { label: t('console.website-test.backend'), href: links.backend },
          },
        ],
      },
      {
        kind: 'code',
        title: t('console.website-test.route'),
        lead: t('console.website-test.route-text'),
        label: t('console.website-test.route'),
        text: linesAbout('test-route', application, test.issuer),
        isClosed: true,
      },
      { kind: 'text', tone: 'small', text: t('console.website-test.not-seen') },
    ],
  };
}

function resultBlocks(
  application: ProxiedApplication,
  issuer: string,
  checks: readonly Tested[],
  failed: number,
  from: 'server' | 'question' | 'backend',
): Block[] {
  const isReached = checks.some(({ state }) => state === 'passed' || state === 'failed');
  const isPartly = failed === 0 && checks.some(({ state, part }) => state === 'skipped' && part === 'test-route');
  const result = isPartly ? t('console.website-test.partly') : t('console.website-test.result', { failed });
  const faults = checks.filter(({ state, part }) => state === 'failed' && part !== undefined);
  return [
    {
      kind: 'result',
      isGood: failed === 0 && isReached,
      isWarning: !isReached,
      title: isReached ? result : t('console.website-test.not-tested'),
      causes: checks
        .filter(({ state, explanation }) => state === 'failed' && explanation)
        .map(({ explanation = '' }) => ({ text: explanation, actions: [] })),
    },
    {
      kind: 'rules',
      title: from === 'server' ? t('console.website-test.from-here') : t('console.website-test.from-browser'),
      rules: checks.map(({ part: _part, header: _header, ...rule }) => rule),
      expectedLabel: t('console.website-test.expected'),
    },
    ...linesToChange(application, issuer, faults),
  ];
}

/** For each fault the lines of the right configuration, once. */
function linesToChange(application: ProxiedApplication, issuer: string, faults: readonly Tested[]): Block[] {
  const texts = new Set<string>();
  return faults.flatMap(({ label, part, header }): Block[] => {
    const text = part ? linesAbout(part, application, issuer, header) : '';
    if (text === '' || texts.has(text)) return [];
    texts.add(text);
    const title = t('console.website-test.lines', { check: label });
    return [{ kind: 'code', title, label: title, text }];
  });
}
