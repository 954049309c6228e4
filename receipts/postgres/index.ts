/** The Postgres store and its schema: the only place in this project with `pg` and SQL. */
export { openPostgresStore } from './store.ts';
export type { PostgresStoreOptions } from './store.ts';
export { migrate, schemaStatus } from './migrate.ts';
export type { MigrateOptions, MigrationReport, SchemaState, SchemaStatus } from './migrate.ts';
export { clustersIn, registeredTypes } from './held.ts';
