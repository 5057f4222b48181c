from demo_data.build.build import main

raise SystemExit(main())
