-- The password of the role that rowgraph logs in as, from the environment of the container.
\getenv password AUTHENTICATOR_PASSWORD
alter role authenticator password :'password';
