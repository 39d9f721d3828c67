import { EntitySchema } from 'typeorm';
import type { DataSource, EntitySchemaColumnOptions, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { cursorOf, pageEndOf } from './readers/cursor.js';
import type { ListSource } from './readers/list-source.js';
import { PAGE_ROWS_MAX } from './readers/lists.js';
import type { ApprovalListQuery, LeaseListQuery, Page, ToolCallListQuery } from './readers/lists.js';
import { TABLE_COLUMNS } from './rows/columns.js';
import { TABLE_KEYS } from './rows/table-rules.js';
import type { TableName, TableRow } from './rows/tables.js';

/** A table as TypeORM sees it; property names are the column names, so a loaded entity is a row. */
function entityOf<T extends TableName>(table: T): EntitySchema<TableRow<T>> {
  const columns: Record<string, EntitySchemaColumnOptions> = {};
  for (const [column, kind] of Object.entries<string>(TABLE_COLUMNS[table])) {
    columns[column] = {
      type: kind.startsWith('text') ? 'text' : 'integer',
      nullable: kind.endsWith('?'),
      primary: (TABLE_KEYS[table] as readonly string[]).includes(column),
    };
  }
  return new EntitySchema<TableRow<T>>({ name: table, tableName: table, columns: columns as never });
}

const TOOL_CALLS = entityOf('tool_calls');
const APPROVALS = entityOf('approvals');
const LEASES = entityOf('leases');

/** Entities of the read-only data source: those that lists with filters are made of. */
export const LIST_ENTITIES = [TOOL_CALLS, APPROVALS, LEASES] as const;

interface ListedRow extends ObjectLiteral {
  readonly created_at: string;
}

/** Lists through TypeORM's query builder, on any database it knows. */
export class TypeOrmLists implements ListSource {
  constructor(private readonly source: DataSource) {}

  async toolCalls(query: ToolCallListQuery): Promise<Page<TableRow<'tool_calls'>>> {
    const select = this.source.getRepository(TOOL_CALLS).createQueryBuilder('row');
    select.where('row.tenant = :tenant', { tenant: query.tenant });
    filterOneOf(select, 'status', query.statuses);
    filterEqual(select, 'run_id', query.runId);
    filterEqual(select, 'capability', query.capability);
    filterEqual(select, 'principal', query.principal);
    if (query.unresolvedOnly === true) {
      select.andWhere(`NOT (row.status = 'manual_handoff' AND row.resolution_finding IS NOT NULL)`);
    }
    if (query.contradictedOnly === true) select.andWhere('row.contradicted = 1');
    if (query.from !== undefined) select.andWhere('row.created_at >= :from', { from: query.from });
    if (query.to !== undefined) select.andWhere('row.created_at < :to', { to: query.to });
    return page(select, 'tool_call_id', query);
  }

  async approvals(query: ApprovalListQuery): Promise<Page<TableRow<'approvals'>>> {
    const select = this.source.getRepository(APPROVALS).createQueryBuilder('row');
    select.where('row.tenant = :tenant', { tenant: query.tenant });
    filterOneOf(select, 'status', query.statuses);
    filterEqual(select, 'tool_call_id', query.toolCallId);
    filterEqual(select, 'run_id', query.runId);
    filterEqual(select, 'batch_id', query.batchId);
    if (query.reviewOwedOnly === true) select.andWhere('row.review_owed = 1');
    return page(select, 'approval_id', query);
  }

  async leases(query: LeaseListQuery): Promise<Page<TableRow<'leases'>>> {
    const select = this.source.getRepository(LEASES).createQueryBuilder('row');
    select.where('row.tenant = :tenant', { tenant: query.tenant });
    filterOneOf(select, 'status', query.statuses);
    filterEqual(select, 'tool_call_id', query.toolCallId);
    filterEqual(select, 'run_id', query.runId);
    return page(select, 'lease_id', query);
  }
}

type Select<R extends ObjectLiteral> = SelectQueryBuilder<R>;

function filterEqual<R extends ObjectLiteral>(select: Select<R>, column: string, value: string | undefined): void {
  if (value !== undefined) select.andWhere(`row.${column} = :${column}`, { [column]: value });
}

function filterOneOf<R extends ObjectLiteral>(
  select: Select<R>,
  column: string,
  values: readonly string[] | undefined,
): void {
  if (values === undefined) return;
  if (values.length === 0) select.andWhere('1 = 0');
  else select.andWhere(`row.${column} IN (:...${column})`, { [column]: [...values] });
}

async function page<R extends ListedRow>(
  select: Select<R>,
  id: string & keyof R,
  query: { readonly limit: number; readonly cursor?: string | null },
): Promise<Page<R>> {
  const limit = Math.min(Math.max(1, Math.trunc(query.limit)), PAGE_ROWS_MAX);
  if (query.cursor !== undefined && query.cursor !== null) {
    const end = pageEndOf(query.cursor);
    select.andWhere(`(row.created_at, row.${id}) < (:endAt, :endId)`, { endAt: end.createdAt, endId: end.id });
  }
  // One row more than asked for tells whether there is a next page.
  const found = await select
    .orderBy('row.created_at', 'DESC')
    .addOrderBy(`row.${id}`, 'DESC')
    .limit(limit + 1)
    .getMany();
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const more = found.length > limit && last !== undefined;
  return { rows, nextCursor: more ? cursorOf({ createdAt: last.created_at, id: String(last[id]) }) : null };
}
