-- A multi-tenant app. On Citus, `distribution.sql` runs at the line that says so; on plain PostgreSQL, nothing does.
drop schema if exists shop cascade;
create schema shop;

create type shop.status as enum ('open', 'doing', 'done');

create table shop.country (code text primary key, name text not null);
create table shop.price_plan (id int primary key, name text not null, price numeric(10, 2) not null);

create table shop.tenant (
  id int primary key,
  name text not null,
  country_code text not null,
  plan_id int not null,
  founded date
);
create table shop.account (
  tenant_id int not null,
  id bigserial,
  email text not null,
  name text,
  manager_id bigint,
  active boolean not null default true,
  primary key (tenant_id, id),
  unique (tenant_id, email)
);
create table shop.project (
  tenant_id int not null,
  id bigserial,
  name text not null,
  owner_id bigint,
  budget numeric(12, 2),
  created_at timestamptz not null default '2024-01-01 00:00:00+00',
  primary key (tenant_id, id)
);
create table shop.task (
  tenant_id int not null,
  id bigserial,
  project_id bigint not null,
  assignee_id bigint,
  title text not null,
  status shop.status not null default 'open',
  points int check (points >= 0),
  due date,
  tags text[] not null default '{}',
  data jsonb,
  primary key (tenant_id, id)
);
create index on shop.task (tenant_id, project_id);
create table shop.comment (
  tenant_id int not null,
  id bigserial,
  task_id bigint not null,
  author_id bigint not null,
  words text not null,
  written_at timestamptz not null default '2024-05-05 10:00:00+00',
  primary key (tenant_id, id)
);
create table shop.label (tenant_id int not null, id bigserial, name text not null, primary key (tenant_id, id));
create table shop.task_label (
  tenant_id int not null,
  task_id bigint not null,
  label_id bigint not null,
  primary key (tenant_id, task_id, label_id)
);
create table shop.secret (tenant_id int not null, id int not null, words text not null, primary key (tenant_id, id));
create table shop.notice (id int primary key, words text not null);

-- Distributed here.

alter table shop.tenant add foreign key (country_code) references shop.country;
alter table shop.account add foreign key (tenant_id) references shop.tenant;
alter table shop.project add foreign key (tenant_id) references shop.tenant;
alter table shop.project add foreign key (tenant_id, owner_id) references shop.account (tenant_id, id);
alter table shop.task add foreign key (tenant_id, project_id) references shop.project (tenant_id, id) on delete cascade;
alter table shop.task add foreign key (tenant_id, assignee_id) references shop.account (tenant_id, id);
alter table shop.comment add foreign key (tenant_id, task_id) references shop.task (tenant_id, id) on delete cascade;
alter table shop.comment add foreign key (tenant_id, author_id) references shop.account (tenant_id, id);
alter table shop.task_label add foreign key (tenant_id, task_id) references shop.task (tenant_id, id) on delete cascade;
alter table shop.task_label add foreign key (tenant_id, label_id) references shop.label (tenant_id, id);

create function shop.tasks_of(tenant int) returns setof shop.task language plpgsql stable as
  $$ begin return query select * from shop.task t where t.tenant_id = tenant order by t.id; end $$;
create function shop.points_of(tenant int) returns bigint language plpgsql stable as
  $$ begin return (select sum(t.points) from shop.task t where t.tenant_id = tenant); end $$;
create function shop.rename_project(tenant int, project bigint, new_name text) returns shop.project language plpgsql as
  $$
  declare renamed shop.project;
  begin
    update shop.project p set name = new_name where p.tenant_id = tenant and p.id = project returning * into renamed;
    return renamed;
  end
  $$;
create function shop.rename_tenant(tenant int, new_name text) returns shop.tenant language plpgsql as
  $$
  declare renamed shop.tenant;
  begin
    update shop.tenant t set name = new_name where t.id = tenant returning * into renamed;
    return renamed;
  end
  $$;
create function shop.twice(number int) returns int language sql immutable as 'select number * 2';
create function shop.sql_tasks(tenant int) returns setof shop.task language sql stable as
  'select * from shop.task t where t.tenant_id = tenant order by t.id';

insert into shop.country select 'C' || n, 'Country ' || n from generate_series(1, 4) n;
insert into shop.price_plan values (1, 'Free', 0), (2, 'Team', 12.50), (3, 'Firm', 99.00);
insert into shop.notice select n, 'Notice ' || n from generate_series(1, 5) n;
insert into shop.tenant select n, 'Tenant ' || n, 'C' || (1 + n % 4), 1 + n % 3, date '2020-01-01' + n from generate_series(1, 12) n;
insert into shop.account (tenant_id, id, email, name, manager_id, active)
  select t, t * 100 + n, 'u' || n || '@t' || t || '.example', case when n % 4 <> 0 then 'User ' || n end, case when n > 1 then t * 100 + 1 end, n % 3 <> 0
  from generate_series(1, 12) t, generate_series(1, 5) n;
insert into shop.project (tenant_id, id, name, owner_id, budget, created_at)
  select t, t * 100 + n, 'Project ' || n || '''s "' || t || '"', case when n <> 3 then t * 100 + n end, n * 1000.25 + t,
    timestamptz '2024-01-01 00:00:00+00' + n * interval '1 day 03:04:05.678'
  from generate_series(1, 12) t, generate_series(1, 4) n;
insert into shop.task (tenant_id, id, project_id, assignee_id, title, status, points, due, tags, data)
  select t, t * 1000 + n, t * 100 + 1 + n % 4, case when n % 5 <> 0 then t * 100 + 1 + n % 5 end, 'Task ' || n,
    (array['open', 'doing', 'done'])[1 + n % 3]::shop.status, case when n % 7 <> 0 then n % 9 end, date '2024-03-01' + n, array['a' || n % 2, 'b' || n % 3],
    jsonb_build_object('n', n, 'deep', jsonb_build_object('tenant', t))
  from generate_series(1, 12) t, generate_series(1, 20) n;
insert into shop.comment (tenant_id, id, task_id, author_id, words, written_at)
  select t, t * 1000 + n, t * 1000 + 1 + n % 8, t * 100 + 1 + n % 5, 'Words ' || n, timestamptz '2024-05-05 10:00:00+00' + n * interval '1 hour'
  from generate_series(1, 12) t, generate_series(1, 24) n;
insert into shop.label select t, t * 10 + n, 'Label ' || n from generate_series(1, 12) t, generate_series(1, 3) n;
insert into shop.task_label select t, t * 1000 + n, t * 10 + 1 + (n + m) % 3 from generate_series(1, 12) t, generate_series(1, 10) n, generate_series(0, 1) m;
insert into shop.secret select t, n, 'Secret ' || n || ' of ' || t from generate_series(1, 12) t, generate_series(1, 3) n;
select setval(pg_get_serial_sequence('shop.' || name, 'id'), 100000) from unnest(array['account', 'project', 'task', 'comment', 'label']) name;

alter table shop.secret enable row level security;
create policy own on shop.secret
  using (tenant_id = (nullif(current_setting('request.jwt.claims', true), '')::json ->> 'tenant')::int)
  with check (tenant_id = (nullif(current_setting('request.jwt.claims', true), '')::json ->> 'tenant')::int);

comment on schema shop is '@graphql({"inflect_names": true, "introspection": true})';
comment on table shop.task is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on table shop.project is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on table shop.comment is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on table shop.tenant is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
