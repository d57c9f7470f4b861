/** The dashboard and the alerts in deploy/ use metrics that a server has. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { definitions } from '../../src/metrics/definitions.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { readSeries, type Series, sumOf } from '../support/metrics.ts';
import { startTestServer } from '../support/server.ts';

const pathOf = (name: string) => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
const readDeployed = (name: string) => readFile(pathOf(name), 'utf8');

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string; legendFormat: string }[];
}

interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  templating: { list: { name: string; type: string; definition?: string }[] };
  panels: Panel[];
}

const dashboard = async () => JSON.parse(await readDeployed('grafana-dashboard.json')) as Dashboard;

/** The expressions of the rules. Each is on one line, or in folded lines. */
async function ruleExpressions(): Promise<string[]> {
  const rules = await readDeployed('prometheus-rules.yml');
  const found = rules.matchAll(/^ +expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/gm);
  return [...found].map(([, folded, single]) => folded ?? single ?? '');
}

/** The metrics of a server that was used a little. */
async function seriesOfUsedServer(t: TestContext): Promise<Series[]> {
  const { api, url } = await startTestServer(t);
  const room = await api.room();
  await api.upload(room, 'a.bin', 'bytes');
  await api.get('/api/rooms/ZZZZZZ');
  const device = await joinRoom(t, url, room);
  await device.next('snapshot');
  await device.leave();
  return eventually('the channel is closed', async () => {
    const series = await readSeries(api);
    return sumOf(series, 'poproom_live_channel_duration_seconds_count') !== undefined && series;
  });
}

interface Selector {
  metric: string;
  labels: string[];
}

/** The metrics in an expression of PromQL, with the labels of their selectors. */
function selectorsIn(expression: string): Selector[] {
  const found = expression.matchAll(/\b((?:poproom|nodejs|process)_\w+|up\b)(?:\{([^}]*)\})?/g);
  return [...found].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(/(\w+)\s*[=!]~?\s*"/g)].map(([, label = '']) => label),
  }));
}

/** The labels that an expression groups by. */
const groupingsIn = (expression: string): string[] =>
  [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );

const labelsInText = (text: string): string[] =>
  [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label);

/** Prometheus itself adds these. */
const added = new Set(['job', 'instance']);

/** Fails if an expression uses a metric or a label that the server does not have. */
function assertExists(series: readonly Series[], expression: string, moreLabels: readonly string[]): void {
  const selectors = selectorsIn(expression);
  assert.ok(selectors.length > 0, `${expression} selects a metric`);
  const available = new Set(added);
  for (const { metric, labels } of selectors.filter(({ metric }) => metric !== 'up')) {
    // This server has no certificate.
    const isOptional = metric === definitions.certificateExpiry.name;
    const found = series.filter(({ name }) => name === metric);
    assert.ok(found.length > 0 || isOptional, `${metric} in ${expression}`);
    for (const one of found) for (const label of Object.keys(one.labels)) available.add(label);
    for (const label of labels) {
      assert.ok(added.has(label) || found.some((one) => label in one.labels), `${metric}{${label}} in ${expression}`);
    }
  }
  for (const label of [...groupingsIn(expression), ...moreLabels]) {
    assert.ok(available.has(label), `the label ${label} in ${expression}`);
  }
}

describe('the dashboard and the alerts', () => {
  it('[MON-7] use only metrics and labels of a real server', async (t) => {
    const series = await seriesOfUsedServer(t);
    const { panels } = await dashboard();
    const targets = panels.flatMap(({ targets = [] }) => targets);
    for (const { expr, legendFormat } of targets) assertExists(series, expr, labelsInText(legendFormat));
    const expressions = await ruleExpressions();
    const alerts = (await readDeployed('prometheus-rules.yml')).match(/^ +- alert: /gm) ?? [];
    assert.equal(expressions.length, alerts.length);
    for (const expression of expressions) assertExists(series, expression, []);
  });

  it('[MON-7] show every metric of the server on the dashboard, or alert on it', async () => {
    const { panels } = await dashboard();
    const queries = [
      ...panels.flatMap(({ targets = [] }) => targets).map(({ expr }) => expr),
      ...(await ruleExpressions()),
    ];
    const used = queries.flatMap(selectorsIn).map(({ metric }) => metric);
    for (const { name } of Object.values(definitions)) {
      const isUsed = used.some((metric) => metric === name || metric.replace(/_(bucket|count|sum)$/, '') === name);
      assert.ok(isUsed || name === definitions.heldBytesLimit.name, name);
    }
  });

  it('[MON-7] form a dashboard that Grafana can import', async () => {
    const { uid, title, schemaVersion, templating, panels } = await dashboard();
    assert.deepEqual([uid, title, schemaVersion], ['poproom', 'Poproom', 39]);
    const variables = new Set(['__rate_interval', ...templating.list.map(({ name }) => name)]);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'ids of panels are unique');
    const cells = new Set<string>();
    for (const { type, title, gridPos, targets = [] } of panels) {
      assert.ok(['row', 'stat', 'timeseries'].includes(type) && title.length > 0);
      assert.equal(targets.length > 0, type !== 'row', title);
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
      const { x, y, w, h } = gridPos;
      assert.ok(x >= 0 && x + w <= 24, title);
      for (let cell = 0; cell < w * h; cell++) {
        const key = `${x + (cell % w)} ${y + Math.floor(cell / w)}`;
        assert.ok(!cells.has(key), `${title} overlaps another panel`);
        cells.add(key);
      }
      for (const { expr } of targets) {
        for (const [, name = ''] of expr.matchAll(/\$(\w+)/g)) assert.ok(variables.has(name), `$${name} in ${title}`);
      }
    }
  });
});
