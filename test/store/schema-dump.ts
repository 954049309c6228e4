/** The schema of a database as text, from the catalog: the same text for the same schema, on every server version. */
import pg from 'pg';

const COLUMNS = `
  select c.relname as name,
    string_agg(
      format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attcollation <> 0 and co.collname <> 'default' then ' collate ' || quote_ident(co.collname) else '' end,
        case when a.attnotnull then ' not null' else '' end,
        case
          when a.attidentity <> '' then ' generated as identity'
          else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
        end),
      E',\n' order by a.attnum) as columns,
    c.relispartition as is_partition,
    pg_get_partkeydef(c.oid) as partitioned_by,
    pg_get_expr(c.relpartbound, c.oid) as bound,
    array_to_string(c.reloptions, ', ') as options
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef as d on d.adrelid = c.oid and d.adnum = a.attnum
  left join pg_collation as co on co.oid = a.attcollation
  where c.relnamespace = 'temporal_health'::regnamespace and c.relkind in ('r', 'p')
  group by c.oid, c.relname
  order by c.relname`;

const CONSTRAINTS = `
  select conrelid::regclass::text as on_table, conname as name, pg_get_constraintdef(oid) as definition
  from pg_constraint
  where connamespace = 'temporal_health'::regnamespace and contype in ('c', 'f', 'p', 'u', 'x') and conparentid = 0
  order by 1, 2`;

const INDEXES = `
  select pg_get_indexdef(i.indexrelid) as definition
  from pg_index as i
  join pg_class as c on c.oid = i.indexrelid
  where c.relnamespace = 'temporal_health'::regnamespace and not i.indisprimary and not c.relispartition
  order by c.relname`;

const FUNCTIONS = `
  select pg_get_functiondef(oid) as definition
  from pg_proc
  where pronamespace = 'temporal_health'::regnamespace
  order by proname, pg_get_function_identity_arguments(oid)`;

const VIEWS = `
  select relname as name, array_to_string(reloptions, ', ') as options, pg_get_viewdef(oid, true) as definition
  from pg_class
  where relnamespace = 'temporal_health'::regnamespace and relkind = 'v'
  order by relname`;

type Row = Record<string, string | null>;

export async function dumpSchema(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, query_timeout: 60_000 });
  await client.connect();
  const ask = async (text: string): Promise<Row[]> => (await client.query<Row>(text)).rows;
  try {
    const tables = (await ask(COLUMNS)).map(({ name, columns, partitioned_by, bound, options }) =>
      [
        `table ${String(name)} (\n${String(columns)}\n)`,
        partitioned_by === null ? '' : ` partition by ${String(partitioned_by)}`,
        bound === null ? '' : ` partition ${String(bound)}`,
        options === null ? '' : ` with (${String(options)})`,
      ].join(''),
    );
    const constraints = (await ask(CONSTRAINTS)).map(
      (row) => `constraint ${String(row['name'])} on ${String(row['on_table'])}: ${String(row['definition'])}`,
    );
    const indexes = (await ask(INDEXES)).map((row) => String(row['definition']));
    const functions = (await ask(FUNCTIONS)).map((row) => String(row['definition']).trim());
    const views = (await ask(VIEWS)).map(
      (row) => `view ${String(row['name'])} with (${String(row['options'])}) as\n${String(row['definition'])}`,
    );
    const head = [
      '-- The schema temporal_health as the files in sql/ make it, read from the catalog of PostgreSQL 18. Written by',
      '-- `npx vitest run --project store test/store/schema.test.ts -u`; for reading, not for running.',
    ].join('\n');
    return `${[head, ...tables, constraints.join('\n'), indexes.join('\n'), ...functions, ...views].join('\n\n')}\n`;
  } finally {
    await client.end();
  }
}
